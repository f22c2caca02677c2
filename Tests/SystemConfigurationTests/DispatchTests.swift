// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
@testable import SystemConfiguration
import Testing

extension NetworkTests {
    /// SCNetworkReachabilitySetDispatchQueue.
    @Suite struct Queues {
        let queue = DispatchQueue.named("queues")

        init() throws { try Network.begin() }

        @Test func aTargetIsOnOneQueueOrOnRunLoops() throws {
            let target = try addressTarget("0.0.0.0")
            let loop = try #require(CFRunLoopGetCurrent())
            let mode = try #require(kCFRunLoopDefaultMode)
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, nil))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, queue))
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, .main))
            expectInvalid(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
            expectInvalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, nil))
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test func theFirstScheduleStaysIntact() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, .named("other")))
            expectInvalid(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), kCFRunLoopDefaultMode))
            try Network.addRoute()
            let event = try recorder.next()
            #expect(event.flags == reachable && event.onQueue == "queues")
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test func noQueueTakesATargetOffItsRunLoopsToo() throws {
            let target = try addressTarget("0.0.0.0")
            let loop = try #require(CFRunLoopGetCurrent())
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kCFRunLoopDefaultMode))
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, "another mode" as CFString))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            expectInvalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kCFRunLoopDefaultMode))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test(arguments: [true, false]) func aCallbackMayBeSetBeforeOrAfterTheQueue(before: Bool) throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            if before { recorder.attach(target) }
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            if !before { recorder.attach(target) }
            try Network.addRoute()
            #expect(try recorder.next().flags == reachable)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test func addressesGetNoCallbackForBeingScheduled() throws {
            try Network.addRoute()
            let recorder = Recorder()
            let targets =
                try ["0.0.0.0", "8.8.8.8"].map { try addressTarget($0) } + [
                    pairTarget(nil, "8.8.8.8"), nameTarget("8.8.8.8"),
                ]
            for target in targets {
                recorder.attach(target)
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            }
            try Network.deleteRoute()
            for _ in targets {
                #expect(try recorder.next().flags == 0, "The first callback is that of the first change.")
            }
            for target in targets { queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) } }
            #expect(recorder.count == targets.count)
        }

        @Test func aChangeThatIsNoneToATargetIsNotTold() throws {
            let (recorder, witness) = (Recorder(), Recorder())
            let (target, other) = (try addressTarget("10.1.0.1"), try addressTarget("8.8.8.8"))
            recorder.attach(target)
            witness.attach(other)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(SCNetworkReachabilitySetDispatchQueue(other, queue))
            try Network.addRoute()
            #expect(try witness.next().flags == reachable)
            try Network.ip("addr del 10.1.0.2/24 dev wan0")
            #expect(try recorder.next().flags == 0)
            for target in [target, other] { queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) } }
            #expect(recorder.flags == [0])
        }

        @Test func anotherLinkIsToldThoughTheFlagsAreTheSame() throws {
            try Network.ip("link add wan1 type veth peer name isp1")
            defer { try? Network.ip("link del wan1") }
            try Network.ip("addr add 10.2.0.2/24 dev wan1")
            try Network.ip("link set isp1 up")
            try Network.ip("link set wan1 up")
            try Network.addRoute()
            let recorder = Recorder()
            let target = try addressTarget("8.8.8.8")
            recorder.attach(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            try Network.ip("route replace default via 10.2.0.1 dev wan1")
            #expect(try recorder.next().flags == reachable)
            queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) }
            #expect(recorder.flags == [reachable])
        }

        @Test func aCallbackMayTakeItsOwnTargetDown() throws {
            let recorder = Recorder()
            weak var gone: SCNetworkReachability?
            do {
                let target = try addressTarget("0.0.0.0")
                gone = target
                recorder.attach(target)
                recorder.inCallout { target, _ in
                    #expect(SCNetworkReachabilitySetCallback(target, nil, nil))
                    #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
                }
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            }
            #expect(gone != nil, "A scheduled target keeps itself alive.")
            try Network.addRoute()
            #expect(try recorder.next().flags == reachable)
            #expect(comesTrue { gone == nil })
            #expect(recorder.log == "++C--" || recorder.log == "++-C-")
        }

        @Test func aTargetMayBeMovedInsideItsCallback() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            let other = DispatchQueue.named("other")
            recorder.attach(target)
            recorder.inCallout { target, recorder in
                guard recorder.count == 0 else { return }
                #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
                #expect(SCNetworkReachabilitySetDispatchQueue(target, other))
            }
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            try Network.addRoute()
            #expect(try recorder.next().onQueue == "queues")
            try Network.deleteRoute()
            let event = try recorder.next()
            #expect(event.onQueue == "other" && event.flags == 0)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test func aScheduledTargetKeepsCallingBackWithoutItsOwner() throws {
            let recorder = Recorder()
            weak var alive: SCNetworkReachability?
            do {
                let target = try addressTarget("0.0.0.0")
                alive = target
                recorder.attach(target)
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            }
            try Network.addRoute()
            #expect(try recorder.next().flags == reachable)
            try Network.deleteRoute()
            #expect(try recorder.next().flags == 0)
            queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(alive!, nil)) }
            #expect(comesTrue { alive == nil })
            #expect(recorder.log == "++C-+C--")
        }

        @Test func noCallbackBeginsAfterUnschedulingOnTheQueue() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            for round in 0..<50 {
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
                try round % 2 == 0 ? Network.addRoute() : Network.deleteRoute()
                let count = queue.sync {
                    #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
                    return recorder.count
                }
                queue.sync {}
                #expect(recorder.count == count)
            }
        }

        @Test func queuesOfEveryKindServe() throws {
            let target = DispatchQueue(label: "below")
            let queues: [DispatchQueue] = [
                DispatchQueue(label: "serial"), DispatchQueue(label: "concurrent", attributes: .concurrent),
                DispatchQueue(label: "targeting", target: target), .global(), .global(qos: .background),
                DispatchQueue(label: "urgent", qos: .userInteractive),
            ]
            for queue in queues {
                let recorder = Recorder()
                let target = try addressTarget("0.0.0.0")
                recorder.attach(target)
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
                try Network.addRoute()
                #expect(try recorder.next().flags == reachable, "\(queue.label)")
                try Network.deleteRoute()
                #expect(try recorder.next().flags == 0, "\(queue.label)")
                #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            }
        }

        @Test func calloutsCountAsOnTheQueue() throws {
            let target = try addressTarget("0.0.0.0")
            for queue in [queue, DispatchQueue.named("concurrent", .concurrent)] {
                let recorder = Recorder()
                recorder.attach(target)
                recorder.inCallout { _, _ in
                    dispatchPrecondition(condition: .onQueue(queue))
                }
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
                try Network.addRoute()
                #expect(try recorder.next().onQueue == queue.label)
                try Network.deleteRoute()
                #expect(try recorder.next().onQueue == queue.label)
                #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
            }
        }

        /// A delivery that setting a callback has put off runs on a concurrent queue, and while it does the network
        /// changes again. A second target hears of that, on the same queue; the first must not, before its callout has
        /// ended.
        @Test func calloutsDoNotOverlapOnAConcurrentQueue() throws {
            let concurrent = DispatchQueue.named("concurrent", .concurrent)
            let (recorder, witness) = (Recorder(), Recorder())
            let (target, other) = (try addressTarget("8.8.8.8"), try addressTarget("0.0.0.0"))
            let (inside, most) = (Counter(), Counter())
            recorder.inCallout { _, recorder in
                most.raise(to: inside.add(1))
                defer { inside.add(-1) }
                guard recorder.count == 0, most.value == 1 else { return }
                #expect(throws: Never.self) {
                    #expect(try witness.next().flags == reachable)
                    for _ in 0..<10 {
                        try Network.deleteRoute()
                        #expect(try witness.next().flags == 0)
                        try Network.addRoute()
                        #expect(try witness.next().flags == reachable)
                    }
                    try Network.deleteRoute()
                }
            }
            witness.attach(other)
            #expect(SCNetworkReachabilitySetDispatchQueue(other, concurrent))
            #expect(SCNetworkReachabilitySetDispatchQueue(target, concurrent))
            var context = recorder.context
            context.retain = { info in
                Queues.missed.withLock { missed in
                    guard let target = missed else { return }
                    missed = nil
                    #expect(throws: Never.self) { try Network.addRoute() }
                    #expect(comesTrue { target.object.lock.withLock { target.object.isOwed } })
                }
                return info
            }
            Queues.missed.withLock { $0 = target }
            #expect(SCNetworkReachabilitySetCallback(target, Recorder.callout, &context))
            let flags = [try recorder.next().flags, try recorder.next().flags]
            #expect(most.value == 1)
            #expect(flags == [reachable, 0])
            for target in [target, other] { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) }
        }

        /// The target that a context's retain is to change the network for.
        private static let missed = Guarded<SCNetworkReachability?>(nil)

        private final class Counter: Sendable {
            private let count = Atomic(0)

            var value: Int { count.load(ordering: .sequentiallyConsistent) }

            @discardableResult
            func add(_ number: Int) -> Int { count.add(number, ordering: .sequentiallyConsistent).newValue }

            func raise(to number: Int) { count.max(number, ordering: .sequentiallyConsistent) }
        }

        @Test func aQueueThatIsSuspendedIsToldOfWhatIsLeft() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            queue.suspend()
            for _ in 0..<20 {
                try Network.addRoute()
                try Network.deleteRoute()
            }
            try Network.addRoute()
            queue.resume()
            #expect(try recorder.next().flags == reachable)
            queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) }
            #expect(recorder.flags == [reachable])
        }

        @Test func manyTargetsShareAQueue() throws {
            let recorder = Recorder()
            let targets = try (1...100).map { try addressTarget("198.51.100.\($0)") }
            for target in targets {
                recorder.attach(target)
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            }
            try Network.addRoute()
            for _ in targets { #expect(try recorder.next().flags == reachable) }
            for target in targets { queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) } }
            #expect(recorder.count == targets.count)
        }

        @Test func nothingStaysOpen() throws {
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            func once() throws {
                let target = try addressTarget("0.0.0.0")
                let cancelled = DispatchQueue(label: "cancelled")
                #expect(SCNetworkReachabilitySetDispatchQueue(target, cancelled))
                #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
                #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetMain(), kCFRunLoopCommonModes))
                #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetMain(), kCFRunLoopCommonModes))
            }
            try once()
            let before = try descriptors()
            for _ in 0..<200 { try once() }
            // Of the last few the cancellation may not be through, and dispatch opens some of its own.
            #expect(try comesTrue { try descriptors() <= before + 8 })
        }
    }
}
