// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

extension NetworkTests {
    /// SCNetworkReachabilityScheduleWithRunLoop and SCNetworkReachabilityUnscheduleFromRunLoop.
    @Suite struct RunLoops {
        let mode: CFString = kCFRunLoopDefaultMode

        init() throws { try Network.begin() }

        @Test(arguments: LoopThread.Runner.allCases) func callbacksComeOnTheLoopsThread(runner: LoopThread.Runner)
            throws
        {
            let thread = LoopThread(runner)
            defer { thread.stop() }
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, mode))
            try Network.addRoute()
            var event = try recorder.next()
            #expect(event.flags == reachable && event.thread == thread.thread)
            try Network.deleteRoute()
            event = try recorder.next()
            #expect(event.flags == 0 && event.thread == thread.thread)
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, mode))
        }

        @Test func callbacksComeOnlyWhileTheLoopRunsInTheMode() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            let loop = try #require(CFRunLoopGetCurrent())
            recorder.attach(target)
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, "a mode of ours" as CFString))
            let witness = Witness()
            try Network.addRoute()
            try witness.waitUntilTold()
            runShortly()
            #expect(recorder.count == 0)
            let result = CFRunLoopRunInMode(CFRunLoopMode("a mode of ours" as CFString), patience, true)
            #expect(result == .handledSource)
            #expect(recorder.flags == [reachable])
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, "a mode of ours" as CFString))
        }

        @Test func changesThatCameToNothingBeforeTheLoopRanAreOneCallbackWithWhatHolds() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode))
            for wanted in [reachable, 0, reachable, 0] {
                let witness = Witness()
                try wanted == reachable ? Network.addRoute() : Network.deleteRoute()
                try witness.waitUntilTold()
            }
            let result = CFRunLoopRunInMode(.defaultMode, patience, true)
            #expect(result == .handledSource)
            runShortly()
            #expect(recorder.flags == [0])
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode))
        }

        @Test func entriesAreCounted() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            let loop = try #require(CFRunLoopGetCurrent())
            recorder.attach(target)
            expectInvalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
            try Network.addRoute()
            #expect(CFRunLoopRunInMode(.defaultMode, patience, true) == .handledSource)
            #expect(recorder.flags == [reachable])
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
            expectInvalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
            expectInvalid(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test func anotherLoopOrModeIsNothingToTakeBack() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            let loop = try #require(CFRunLoopGetCurrent())
            recorder.attach(target)
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode))
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, "another mode" as CFString))
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetMain(), kCFRunLoopCommonModes))
            try Network.addRoute()
            #expect(CFRunLoopRunInMode(.defaultMode, patience, true) == .handledSource)
            #expect(recorder.flags == [reachable], "It is scheduled still.")
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode))
        }

        @Test func commonModesHoldTheDefaultMode() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            let common: CFString = CFRunLoopMode.commonModes.rawValue
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), common))
            try Network.addRoute()
            #expect(CFRunLoopRunInMode(.defaultMode, patience, true) == .handledSource)
            #expect(recorder.flags == [reachable])
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), common))
        }

        @Test func oneOfSeveralLoopsDelivers() throws {
            let threads = [LoopThread(), LoopThread(.foundation)]
            defer { for thread in threads { thread.stop() } }
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            // The first loop of the target's does not run.
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode))
            for thread in threads { #expect(SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, mode)) }
            try Network.addRoute()
            #expect(try recorder.next().flags == reachable)
            try Network.deleteRoute()
            #expect(try recorder.next().flags == 0)
            #expect(recorder.count == 2)
            for thread in threads { #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, mode)) }
            try Network.addRoute()
            #expect(CFRunLoopRunInMode(.defaultMode, patience, true) == .handledSource, "The last one is left.")
            #expect(recorder.flags == [reachable, 0, reachable])
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode))
        }

        @Test func noCallbackComesAfterUnschedulingOnTheLoopsThread() throws {
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            recorder.attach(target)
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode))
            let witness = Witness()
            try Network.addRoute()
            try witness.waitUntilTold()
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode))
            runShortly()
            #expect(recorder.count == 0)
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
                    #expect(
                        SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode)
                    )
                }
                #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode))
            }
            #expect(gone != nil, "A scheduled target keeps itself alive.")
            try Network.addRoute()
            #expect(CFRunLoopRunInMode(.defaultMode, patience, true) == .handledSource)
            #expect(recorder.log == "++C--")
            #expect(comesTrue { gone == nil })
        }

        @Test func aTargetMayBeRescheduledInsideItsCallback() throws {
            let thread = LoopThread()
            defer { thread.stop() }
            let recorder = Recorder()
            let target = try addressTarget("0.0.0.0")
            let queue = DispatchQueue.named("after the loop")
            recorder.attach(target)
            recorder.inCallout { target, recorder in
                guard recorder.count == 0 else { return }
                #expect(
                    SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode))
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            }
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, mode))
            try Network.addRoute()
            #expect(try recorder.next().thread == thread.thread)
            try Network.deleteRoute()
            #expect(try recorder.next().onQueue == "after the loop")
            #expect(SCNetworkReachabilitySetDispatchQueue(target, nil))
        }

        @Test func anOwnerMayBeGone() throws {
            let thread = LoopThread()
            defer { thread.stop() }
            let recorder = Recorder()
            weak var alive: SCNetworkReachability?
            do {
                let target = try addressTarget("0.0.0.0")
                alive = target
                recorder.attach(target)
                #expect(SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, mode))
            }
            try Network.addRoute()
            #expect(try recorder.next().flags == reachable)
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(try #require(alive), thread.loop, mode))
            #expect(comesTrue { alive == nil })
            #expect(recorder.log == "++C--")
        }

        /// Whoever takes a target off its loop on the loop's thread and lets go of it has it gone there and then.
        @Test func theOwnerSeesTheEnd() throws {
            for round in 0..<100 {
                let recorder = Recorder()
                weak var alive: SCNetworkReachability?
                do {
                    let target = try addressTarget("0.0.0.0")
                    alive = target
                    recorder.attach(target)
                    #expect(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), mode))
                    try round % 2 == 0 ? Network.addRoute() : Network.deleteRoute()
                    #expect(CFRunLoopRunInMode(.defaultMode, patience, true) == .handledSource)
                    #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), mode))
                }
                #expect(alive == nil)
                #expect(recorder.log == "++C--")
            }
        }

        /// Does what the loop has to do now, and does not end it for having nothing of the test's in the mode.
        private func runShortly() {
            let idle = IdleSource(.defaultMode)
            CFRunLoopRunInMode(.defaultMode, 0.01, false)
            idle.remove()
        }
    }
}

/// Another target on run loops: when it was told of a change, so was each one that was there before.
final class Witness {
    private let thread = LoopThread()
    private let recorder = Recorder()
    private let target: SCNetworkReachability?

    init() {
        target = try? addressTarget("0.0.0.0")
        guard let target else { return }
        recorder.attach(target)
        SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, kCFRunLoopDefaultMode)
    }

    func waitUntilTold() throws {
        _ = try recorder.next()
    }

    deinit {
        if let target { SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, kCFRunLoopDefaultMode) }
        thread.stop()
    }
}
