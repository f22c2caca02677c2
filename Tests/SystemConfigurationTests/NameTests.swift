// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

extension NetworkTests {
    /// Host names. The namespace has a hosts file of its own, and no other way to look a name up.
    @Suite struct Names {
        let queue = DispatchQueue.named("names")

        init() throws { try Network.begin() }

        private func unschedule(_ target: SCNetworkReachability) {
            queue.sync { #expect(SCNetworkReachabilitySetDispatchQueue(target, nil)) }
        }

        /// Waits until the last callback told what is wanted.
        private func wait(_ recorder: Recorder, for flags: UInt32) throws {
            while try recorder.next().flags != flags {}
        }

        @Test func aCallbackIsOwedAfterEachScheduling() throws {
            let recorder = Recorder()
            let target = try nameTarget("far.example")
            recorder.attach(target)
            queue.sync {
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
                #expect(recorder.count == 0, "It never comes from inside the call.")
            }
            #expect(try recorder.next().flags == 0, "It comes offline too.")
            unschedule(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(try recorder.next().flags == 0)
            unschedule(target)
            #expect(recorder.count == 2)
        }

        @Test func askingBeforeItPaysTheDebt() throws {
            try Network.addRoute()
            let recorder = Recorder()
            let target = try nameTarget("far.example")
            recorder.attach(target)
            queue.suspend()
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(try ask(target) == reachable)
            queue.resume()
            try Network.deleteRoute()
            #expect(try recorder.next().flags == 0, "The first callback is that of the change.")
            unschedule(target)
            #expect(recorder.count == 1)
        }

        @Test func aNameThatThereIsNotIsNotReachable() throws {
            try Network.addRoute()
            let recorder = Recorder()
            let target = try nameTarget("nowhere.example")
            #expect(try ask(target) == reachable, "Nobody knows yet.")
            recorder.attach(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            try wait(recorder, for: 0)
            #expect(try ask(target) == 0)
            unschedule(target)
            #expect(try ask(target) == reachable)
        }

        @Test func aNameIsJudgedByItsAddresses() throws {
            try Network.addRoute()
            for (name, flags) in [
                ("own.example", 0x30002 as UInt32), ("direct.example", 0x20002), ("far.example", reachable),
            ] {
                let recorder = Recorder()
                let target = try nameTarget(name)
                recorder.attach(target)
                #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
                try wait(recorder, for: flags)
                #expect(try ask(target) == flags)
                unschedule(target)
            }
        }

        @Test func aNameFollowsThePath() throws {
            try Network.addRoute()
            let recorder = Recorder()
            let target = try nameTarget("far.example")
            recorder.attach(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            try wait(recorder, for: reachable)
            try Network.deleteRoute()
            try wait(recorder, for: 0)
            try Network.addRoute()
            try wait(recorder, for: reachable)
            unschedule(target)
        }

        @Test func localhostNeedsNoNetwork() throws {
            let recorder = Recorder()
            let target = try nameTarget("localhost")
            recorder.attach(target)
            #expect(SCNetworkReachabilitySetDispatchQueue(target, queue))
            #expect(try recorder.next().flags == 0x30002)
            unschedule(target)
        }

        @Test func aNameOnARunLoopIsOwedItsCallbackToo() throws {
            let thread = LoopThread()
            defer { thread.stop() }
            let recorder = Recorder()
            let target = try nameTarget("far.example")
            recorder.attach(target)
            #expect(SCNetworkReachabilityScheduleWithRunLoop(target, thread.loop, kCFRunLoopDefaultMode))
            #expect(try recorder.next().flags == 0)
            #expect(SCNetworkReachabilityUnscheduleFromRunLoop(target, thread.loop, kCFRunLoopDefaultMode))
        }
    }
}
