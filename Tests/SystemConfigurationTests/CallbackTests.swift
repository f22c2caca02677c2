// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Synchronization
import Testing

extension NetworkTests {
    /// SCNetworkReachabilitySetCallback: what is done with the client's context, when, and how often.
    @Suite struct Callbacks {
        let queue = DispatchQueue.named("callbacks")

        init() throws { try Network.begin() }

        private func schedule(_ target: SCNetworkReachability) {
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
        }

        /// After this, no callout of the target runs or begins.
        private func unschedule(_ target: SCNetworkReachability) {
            queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) }
        }

        @Test func settingSucceedsAndLeavesTheError() throws {
            let recorder = Recorder()
            do {
                let target = try addressTarget("0.0.0.0")
                var context = recorder.context
                forgetError()
                #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
                #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, nil))
                #expect(SCNetworkReachabilitySetCallback(target, nil, &context))
                #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
                #expect(SCError() == kSCStatusNoKey)
            }
            #expect(recorder.log == "+-+-")
        }

        @Test func theOldContextIsReleasedBeforeTheNewOneIsRetained() throws {
            let (old, new) = (Recorder(), Recorder())
            do {
                let target = try addressTarget("0.0.0.0")
                old.attach(target)
                #expect(old.log == "+")
                old.attach(target)
                #expect(old.log == "+-+")
                new.attach(target)
                #expect(old.log == "+-+-")
                #expect(new.log == "+")
            }
            #expect(new.log == "+-", "What the target has is released with it.")
        }

        @Test func countsAreEvenAfterAnyNumberOfDeliveries() throws {
            let recorder = Recorder()
            do {
                let target = try addressTarget("0.0.0.0")
                recorder.attach(target)
                schedule(target)
                for _ in 0..<2 {
                    try Network.addRoute()
                    #expect(try recorder.next().flags == reachable)
                    try Network.deleteRoute()
                    #expect(try recorder.next().flags == 0)
                }
                unschedule(target)
                #expect(
                    recorder.log == "+" + String(repeating: "+C-", count: 4), "Unscheduling leaves the context alone.")
            }
            #expect(recorder.log == "+" + String(repeating: "+C-", count: 4) + "-")
        }

        /// Counted copies: retain returns another pointer than it was given.
        private final class Copies: Sendable {
            struct State {
                var retainedFrom: [Int] = []
                var released: [Int] = []
                var calledWith: [Int] = []
            }
            let state = Guarded(State())
            let called = DispatchSemaphore(value: 0)
            nonisolated(unsafe) static var current = Copies()
            /// The number of a copy is its place here.
            nonisolated(unsafe) static let places = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)

            static func number(_ info: UnsafeRawPointer) -> Int { info - UnsafeRawPointer(places) }
        }

        @Test func whatRetainReturnsIsTheInfo() throws {
            let copies = Copies()
            Copies.current = copies
            let target = try addressTarget("0.0.0.0")
            var context = SCNetworkReachabilityContext(
                version: 4711, info: Copies.places,
                retain: { info in
                    Copies.current.state.withLock {
                        $0.retainedFrom.append(Copies.number(info))
                        return UnsafeRawPointer(Copies.places + $0.retainedFrom.count)
                    }
                },
                release: { info in Copies.current.state.withLock { $0.released.append(Copies.number(info)) } },
                copyDescription: nil)
            let callout: SCNetworkReachabilityCallBack = { _, _, info in
                Copies.current.state.withLock { $0.calledWith.append(info.map { Copies.number($0) } ?? -1) }
                Copies.current.called.signal()
            }
            #expect(SCNetworkReachabilitySetCallback(target, callout, &context))
            context = SCNetworkReachabilityContext()  // It was copied.
            schedule(target)
            try Network.addRoute()
            #expect(copies.called.wait(timeout: .now() + patience) == .success)
            unschedule(target)
            // Number 1 is the target's; number 2 was made from it for the callout, and is released after it.
            #expect(copies.state.withLock { $0.retainedFrom } == [0, 1])
            #expect(copies.state.withLock { $0.calledWith } == [2])
            #expect(copies.state.withLock { $0.released } == [2])
            #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
            #expect(copies.state.withLock { $0.released } == [2, 1])
        }

        @Test func withoutAContextInfoIsNil() throws {
            let called = DispatchSemaphore(value: 0)
            let target = try addressTarget("0.0.0.0")
            Self.withoutContext.withLock { $0 = (called, []) }
            let callout: SCNetworkReachabilityCallBack = { _, _, info in
                Callbacks.withoutContext.withLock {
                    $0.infos.append(info.map { UInt(bitPattern: $0) })
                    _ = $0.called?.signal()
                }
            }
            #expect(SCNetworkReachabilitySetCallback(target, callout, nil))
            schedule(target)
            try Network.addRoute()
            #expect(called.wait(timeout: .now() + patience) == .success)
            unschedule(target)
            #expect(Self.withoutContext.withLock { $0.infos } == [nil])
        }

        private static let withoutContext = Guarded<(called: DispatchSemaphore?, infos: [UInt?])>((nil, []))

        @Test func theFunctionsOfAContextAreCalledForANilInfoToo() throws {
            let calls = Recorder()
            Self.nilCalls.withLock { $0 = "" }
            do {
                let target = try addressTarget("0.0.0.0")
                var context = SCNetworkReachabilityContext()
                context.retain = { info in
                    Callbacks.nilCalls.withLock { $0.append(UInt(bitPattern: info) == 0 ? "+" : "?") }
                    return info
                }
                context.release = { info in
                    Callbacks.nilCalls.withLock { $0.append(UInt(bitPattern: info) == 0 ? "-" : "?") }
                }
                #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
                #expect(Self.nilCalls.withLock { $0 } == "+")
            }
            #expect(Self.nilCalls.withLock { $0 } == "+-")
            #expect(calls.count == 0)
        }

        private static let nilCalls = Guarded("")

        @Test func releaseWithoutRetainIsCalledOnce() throws {
            let recorder = Recorder()
            do {
                let target = try addressTarget("0.0.0.0")
                var context = recorder.context
                context.retain = nil
                #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
                schedule(target)
                try Network.addRoute()
                #expect(try recorder.next().flags == reachable)
                unschedule(target)
                #expect(recorder.log == "C")
                #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
                #expect(recorder.log == "C-")
            }
            #expect(recorder.log == "C--")
        }

        @Test func aContextWithoutACalloutIsCountedAllTheSame() throws {
            let (mute, after) = (Recorder(), Recorder())
            let target = try addressTarget("0.0.0.0")
            let released = DispatchSemaphore(value: 0)
            Self.released.withLock { $0 = released }
            var context = mute.context
            context.release = { info in
                Recorder.at(info).write("-")
                Callbacks.released.withLock { _ = $0?.signal() }
            }
            #expect(SCNetworkReachabilitySetCallback(target, nil, &context))
            schedule(target)
            try Network.addRoute()
            #expect(released.wait(timeout: .now() + patience) == .success)
            #expect(
                mute.log == "++-", "State is tracked, and the info is retained around the callout that is not there.")
            after.attach(target)
            #expect(mute.log == "++--")
            #expect(after.log == "+", "Setting a callback calls nobody.")
            try Network.deleteRoute()
            #expect(try after.next().flags == 0)
            unschedule(target)
        }

        private static let released = Guarded<DispatchSemaphore?>(nil)

        @Test func aCallbackCanBeReplacedWhileItRuns() throws {
            let (first, second) = (Recorder(), Recorder())
            let target = try addressTarget("0.0.0.0")
            first.attach(target)
            first.inCallout { target, _ in second.attach(target) }
            schedule(target)
            try Network.addRoute()
            #expect(try first.next().flags == reachable)
            try Network.deleteRoute()
            #expect(try second.next().flags == 0)
            unschedule(target)
            // The target's own reference is released at once, the callout's when it is over.
            #expect(first.log == "++C--")
            #expect(first.count == 1)
        }

        @Test func everythingMayBeCalledFromTheContextsFunctions() throws {
            let target = try addressTarget("0.0.0.0")
            Self.askable.withLock { $0 = target }
            defer { Self.askable.withLock { $0 = nil } }
            let recorder = Recorder()
            var context = recorder.context
            context.retain = { info in
                Callbacks.askAgain()
                return info
            }
            context.release = { _ in Callbacks.askAgain() }
            #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
            schedule(target)
            try Network.addRoute()
            #expect(try recorder.next().flags == reachable)
            unschedule(target)
            #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
        }

        private static let askable = Guarded<SCNetworkReachability?>(nil)

        private static func askAgain() {
            guard let target = askable.withLock({ $0 }) else { return }
            var flags = SCNetworkReachabilityFlags()
            #expect(SCNetworkReachabilityGetFlags(target, &flags))
            expectInvalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetMain(), kCFRunLoopDefaultMode))
        }

        @Test func noChangeIsLostWhileAContextIsReplaced() throws {
            // The new context's retain is where the network changes, and it waits until the change has come up.
            let (old, new) = (Recorder(), Recorder())
            let target = try addressTarget("0.0.0.0")
            old.attach(target)
            schedule(target)
            var context = new.context
            context.retain = { info in
                if Callbacks.isFirstRetain.exchange(false, ordering: .acquiringAndReleasing) {
                    #expect(throws: Never.self) { try Network.addRoute() }
                    Callbacks.waitUntilHeard()
                }
                return info
            }
            Self.isFirstRetain.store(true, ordering: .releasing)
            Self.heard.withLock { $0 = (queue, target) }
            defer { Self.heard.withLock { $0 = nil } }
            #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
            #expect(try new.next().flags == reachable)
            #expect(old.count == 0)
            unschedule(target)
        }

        private static let isFirstRetain = Atomic(true)
        private static let heard = Guarded<(DispatchQueue, SCNetworkReachability)?>(nil)

        /// A second target on the same queue that hears of the same change does so in the same order or later.
        private static func waitUntilHeard() {
            guard let (queue, _) = heard.withLock({ $0 }), let witness = try? addressTarget("10.9.9.9") else { return }
            let recorder = Recorder()
            recorder.attach(witness)
            #expect(SCNetworkReachabilitySetDispatchQueue(witness, queue))
            #expect(throws: Never.self) { try Network.ip("route add 10.9.9.9 dev wan0") }
            #expect(throws: Never.self) { try recorder.next() }
            queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(witness, nil)) }
        }
    }
}
