// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import ReachabilitySwift
import ReachabilityTestSupport

let confirmScenarios = [
    AsyncScenario("confirm: online at once, and offline where that is all there will be") {
        let ethernet = Network.addEthernet()
        let target = try ReachabilityTarget(host: Network.elsewhere)
        for timeout in [Duration.zero, .milliseconds(1), .nanoseconds(1), .seconds(-5)] {
            check(try await target.confirm(timeout: timeout), equals: [], "offline after \(timeout)")
        }
        ethernet.takeDefaultRoute()
        for timeout in [Duration.zero, .seconds(3600), .seconds(Int64.max), nil] {
            let words = timeout.map { "\($0)" } ?? "for ever"
            check(try await target.confirm(timeout: timeout), equals: [.reachable], "online, waiting \(words)")
        }
    },

    AsyncScenario("confirm: the answer comes with the change, not with the deadline") {
        let ethernet = Network.addEthernet()
        let target = ReachabilityTarget.internet
        for round in 1...10 {
            async let answer = target.confirm(timeout: .seconds(3600))
            async let another = target.confirm(timeout: nil)
            step("round \(round)")
            ethernet.takeDefaultRoute()
            check(try await answer, equals: [.reachable], "the answer")
            check(try await another, equals: [.reachable], "the other answer")
            ethernet.dropDefaultRoute()
        }
    },

    AsyncScenario("confirm: a name is online when it was looked up") {
        Network.setHosts(["host.example": "203.0.113.9"])
        let ethernet = Network.addEthernet()
        let target = try ReachabilityTarget(host: "host.example")
        check(try await target.confirm(timeout: .zero), equals: [], "a name, offline")
        ethernet.takeDefaultRoute()
        check(try await target.confirm(timeout: nil), equals: [.reachable], "a name, online")
        let unknown = try ReachabilityTarget(host: "nobody.example")
        check(try await unknown.confirm(timeout: .milliseconds(200)), equals: [], "a name that nobody has")
    },

    AsyncScenario("confirm: cancelled before, during and after") {
        let ethernet = Network.addEthernet()
        let target = ReachabilityTarget.internet
        step("before")
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await target.confirm(timeout: nil)
        }
        await expectCancelled(early)
        step("during")
        for round in 0..<200 {
            let task = Task { try await target.confirm(timeout: nil) }
            for _ in 0..<round % 20 { await Task.yield() }
            task.cancel()
            await expectCancelled(task)
        }
        step("while the answer comes")
        for _ in 0..<50 {
            let task = Task { try await target.confirm(timeout: nil) }
            let switching = Task.detached { ethernet.takeDefaultRoute() }
            await Task.yield()
            task.cancel()
            do {
                check(try await task.value, equals: [.reachable], "an answer that was in time")
            } catch {
                check(error is CancellationError, "\(error)")
            }
            await switching.value
            ethernet.dropDefaultRoute()
        }
        step("after")
        ethernet.takeDefaultRoute()
        let late = Task { try await target.confirm(timeout: nil) }
        check(try await late.value, equals: [.reachable], "the answer")
        late.cancel()
        check(try await late.value, equals: [.reachable], "the answer again")
    },

    AsyncScenario("confirm: many at once, and nothing stays behind") {
        let ethernet = Network.addEthernet()
        weak var released: ReachabilityTarget?
        do {
            let target = ReachabilityTarget.internet
            released = target
            try await withThrowingTaskGroup(of: ReachabilityFlags.self) { group in
                for _ in 0..<500 { group.addTask { try await target.confirm(timeout: .seconds(3600)) } }
                ethernet.takeDefaultRoute()
                var count = 0
                for try await flags in group {
                    check(flags, equals: [.reachable], "an answer")
                    count += 1
                }
                check(count, equals: 500, "the answers")
            }
        }
        // The last answer may still be on its way out of the thread that gave it.
        let queue = try ReachabilityQueue.threaded()
        try queue.flush()
        while released != nil { await Task.yield() }
    },

    AsyncScenario("confirm: at a deadline at which the kernel cannot be asked there is an error, and no answer") {
        _ = Network.addEthernet()
        let target = try ReachabilityTarget(host: Network.elsewhere)
        check(try await target.confirm(timeout: .zero), equals: [], "offline")
        let pending = Task { try await target.confirm(timeout: .milliseconds(500)) }
        for _ in 0..<1000 { await Task.yield() }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let usual = limit
        limit.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        closeNetlinkSockets()
        do {
            fail("answered \(try await pending.value)")
        } catch {
            check(error is Errno, "\(error)")
        }
        limit = usual
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        check(try await target.confirm(timeout: .zero), equals: [], "offline, as before")
    },

    AsyncScenario("wait: on the calling thread") {
        let ethernet = Network.addEthernet()
        let target = ReachabilityTarget.internet
        check(try wait(target, .zero), equals: [], "offline, not waiting")
        check(try wait(target, .milliseconds(50)), equals: [], "offline, waiting")
        for _ in 1...5 {
            let switching = Task.detached { ethernet.takeDefaultRoute() }
            check(try wait(target, nil), equals: [.reachable], "online")
            await switching.value
            ethernet.dropDefaultRoute()
        }
    },
]

private func expectCancelled(_ task: Task<ReachabilityFlags, any Error>) async {
    do {
        fail("answered \(try await task.value)")
    } catch {
        check(error is CancellationError, "\(error)")
    }
}

/// As daemons do that close every descriptor that they find.
private func closeNetlinkSockets() {
    for descriptor in Int32(3)..<256 {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isSocket = withUnsafeMutableBytes(of: &address) { bytes in
            getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length) == 0
        }
        if isSocket, Int32(address.ss_family) == AF_NETLINK { close(descriptor) }
    }
}

private func wait(_ target: ReachabilityTarget, _ timeout: Duration?) throws(Errno) -> ReachabilityFlags {
    try target.wait(timeout: timeout)
}
