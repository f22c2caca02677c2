// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import ReachabilitySwift
import ReachabilityTestSupport

let queueScenarios = [
    AsyncScenario("queue: a callback on a thread, with its own name, until it is removed") {
        let ethernet = Network.addEthernet()
        let queue = try ReachabilityQueue.threaded(label: "a label that is far too long")
        let target = ReachabilityTarget.internet
        let heard = Mailbox<(flags: ReachabilityFlags, thread: String)>()
        weak var captured: Mailbox<Int>?
        do {
            let mailbox = Mailbox<Int>()
            captured = mailbox
            target.setCallback { target, flags in
                mailbox.put(1)
                let thread = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                heard.put((flags, thread ?? ""))
            }
        }
        try target.setQueue(queue)
        expectError(.busy) { () throws(Errno) in try target.setQueue(queue) }
        ethernet.takeDefaultRoute()
        let first = await heard.next()
        check(first.flags, equals: [.reachable], "the flags")
        check(first.thread, equals: "a label that is\n", "the thread's name")
        expectError(.invalidArgument) { () throws(Errno) in _ = try queue.fileDescriptor() }
        expectError(.invalidArgument) { () throws(Errno) in try queue.dispatch(timeout: 0) }

        target.setCallback(nil)
        try queue.flush()
        check(captured == nil, "what the callback captured is still there")
        try target.setQueue(nil)
        expectError(.noEntry) { () throws(Errno) in try target.setQueue(nil) }
    },

    AsyncScenario("queue: driven by hand, with callbacks and with changes as data") {
        let ethernet = Network.addEthernet()
        let queue = try ReachabilityQueue.manual()
        check(try queue.fileDescriptor() >= 0, "no descriptor")
        let silent = ReachabilityTarget.internet
        let spoken = try ReachabilityTarget(host: Network.elsewhere)
        let called = Locked(0)
        let inside = Locked<Errno?>(nil)
        spoken.setCallback { _, _ in
            called.withLock { $0 += 1 }
            do throws(Errno) { try queue.flush() } catch { inside.withLock { $0 = error } }
        }
        try silent.setQueue(queue)
        try spoken.setQueue(queue)
        check(try queue.nextChange(timeout: 0) == nil, "a change that never was")
        ethernet.takeDefaultRoute()
        var change: (target: ReachabilityTarget, flags: ReachabilityFlags)?
        while change == nil || called.withLock({ $0 }) == 0 {
            if let next = try queue.nextChange(timeout: -1) { change = next }
            if change != nil { _ = try queue.nextChange(timeout: 0) }
        }
        check(change?.target === silent, "another target")
        check(change?.flags, equals: [.reachable], "the flags")
        check(called.withLock { $0 }, equals: 1, "the callback's calls")
        check(inside.withLock { $0 }, equals: .wouldDeadlock, "flushing inside a callback")
        try silent.setQueue(nil)
        try spoken.setQueue(nil)
    },
]

private func expectError(
    _ expected: Errno, line: UInt = #line, _ body: () throws(Errno) -> Void
) {
    do throws(Errno) {
        try body()
        fail("no error", line: line)
    } catch {
        check(error, equals: expected, "the error", line: line)
    }
}
