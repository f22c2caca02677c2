// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import SystemConfiguration
import Testing

extension NetworkTests {
    /// One target in many hands. Built with the thread sanitizer as well.
    @Suite struct Soak {
        static let rounds = 60

        init() throws { try Network.begin() }

        private final class Counts: Sendable {
            let retained = Atomic(0)
            let released = Atomic(0)
            let called = Atomic(0)
            let wrong = Atomic(0)

            var context: SCNetworkReachabilityContext {
                SCNetworkReachabilityContext(
                    version: 0, info: Unmanaged.passUnretained(self).toOpaque(),
                    retain: { info in
                        Counts.at(info).retained.add(1, ordering: .relaxed)
                        return info
                    },
                    release: { info in Counts.at(info).released.add(1, ordering: .relaxed) }, copyDescription: nil)
            }

            static let callout: SCNetworkReachabilityCallBack = { target, flags, info in
                guard let info else { return }
                var now = SCNetworkReachabilityFlags()
                let isAnswered = SCNetworkReachabilityGetFlags(target, &now)
                Counts.at(info).called.add(1, ordering: .relaxed)
                if !isAnswered || !flags.subtracting(.reachable).isEmpty {
                    Counts.at(info).wrong.add(1, ordering: .relaxed)
                }
            }

            static func at(_ info: UnsafeRawPointer) -> Counts {
                Unmanaged<Counts>.fromOpaque(info).takeUnretainedValue()
            }
        }

        @Test func oneThreadAsksOneSetsCallbacksAndOneReschedules() throws {
            let thread = LoopThread()
            let queue = DispatchQueue(label: "soak", attributes: .concurrent)
            let counts = [Counts(), Counts()]
            let isOver = Atomic(false)
            let hands = DispatchGroup()
            var target: SCNetworkReachability? = try addressTarget("0.0.0.0")
            do {
                let target = try #require(target)
                expectInvalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, kCFRunLoopDefaultMode))
                Self.start(hands) {
                    while !isOver.load(ordering: .acquiring) {
                        var flags = SCNetworkReachabilityFlags()
                        if !SCNetworkReachabilityGetFlags(target, &flags) { counts[0].wrong.add(1, ordering: .relaxed) }
                    }
                }
                Self.start(hands) {
                    var turn = 0
                    while !isOver.load(ordering: .acquiring) {
                        turn += 1
                        var context = counts[turn % 2].context
                        if turn % 7 == 6 {
                            SCNetworkReachabilitySetCallback(target, nil, nil)
                        } else {
                            SCNetworkReachabilitySetCallback(target, turn % 5 == 4 ? nil : Counts.callout, &context)
                        }
                    }
                }
                for round in 0..<Self.rounds {
                    let onLoop = round % 2 == 0
                    func schedule() -> Bool {
                        onLoop
                            ? SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, kCFRunLoopDefaultMode)
                            : SCNetworkReachabilitySetDispatchQueue(target, queue)
                    }
                    func unschedule() -> Bool {
                        onLoop
                            ? SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, kCFRunLoopDefaultMode)
                            : SCNetworkReachabilitySetDispatchQueue(target, nil)
                    }
                    for _ in 0..<10 {
                        #expect(schedule())
                        #expect(unschedule())
                    }
                    #expect(schedule())
                    try round % 4 < 2
                        ? Network.ip("route replace default via 10.1.0.1 dev wan0") : Network.ip("route flush default")
                    #expect(unschedule())
                }
                isOver.store(true, ordering: .releasing)
                hands.wait()
                SCNetworkReachabilitySetCallback(target, nil, nil)
            }
            // Nobody holds on to the target any more once the loop and the queue are done.
            thread.stop()
            queue.sync(flags: .barrier) {}
            weak let gone = target
            target = nil
            #expect(comesTrue { gone == nil })
            for counts in counts {
                #expect(counts.retained.load(ordering: .acquiring) == counts.released.load(ordering: .acquiring))
                #expect(counts.retained.load(ordering: .acquiring) > 0)
                #expect(counts.wrong.load(ordering: .acquiring) == 0)
            }
        }

        @Test func targetsComeAndGoOnSeveralThreads() throws {
            let thread = LoopThread()
            let counts = Counts()
            let hands = DispatchGroup()
            for hand in 0..<3 {
                Self.start(hands) {
                    for turn in 0..<100 {
                        guard let target = try? addressTarget(turn % 2 == 0 ? "0.0.0.0" : "8.8.8.8") else { return }
                        var context = counts.context
                        SCNetworkReachabilitySetCallback(target, Counts.callout, &context)
                        if (turn + hand) % 2 == 0 {
                            SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, kCFRunLoopCommonModes)
                            SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, kCFRunLoopCommonModes)
                        } else {
                            SCNetworkReachabilitySetDispatchQueue(target, .global())
                            SCNetworkReachabilitySetDispatchQueue(target, nil)
                        }
                    }
                }
            }
            for round in 0..<Self.rounds { try round % 2 == 0 ? Network.addRoute() : Network.deleteRoute() }
            hands.wait()
            thread.stop()
            #expect(
                comesTrue { counts.retained.load(ordering: .acquiring) == counts.released.load(ordering: .acquiring) })
            #expect(counts.wrong.load(ordering: .acquiring) == 0)
        }

        private static func start(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
            group.enter()
            Thread.detachNewThread {
                body()
                group.leave()
            }
        }
    }
}
