// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import ReachabilitySwift
import ReachabilityTestSupport

let changeScenarios = [
    AsyncScenario("changes: each one, in order, as it happens") {
        let first = Network.addEthernet()
        let second = Network.addEthernet("eth1", subnet: "198.51.100")
        let internet = ReachabilityTarget.internet
        let changes = try internet.changes()
        check(try internet.flags(), equals: [], "the internet")
        var iterator = changes.makeAsyncIterator()
        for round in 1...10 {
            step("round \(round)")
            first.takeDefaultRoute()
            check(await iterator.next(), equals: [.reachable], "with a default route")
            first.setCarrier(false)
            check(await iterator.next(), equals: [], "without carrier")
            first.setCarrier(true)
            check(await iterator.next(), equals: [.reachable], "with carrier")
            second.takeDefaultRoute()
            check(await iterator.next(), equals: [.reachable], "over another link")
            second.dropDefaultRoute()
            check(await iterator.next(), equals: [], "without a default route")
        }
    },

    AsyncScenario("changes: a reader that comes late is told how things are, once") {
        let ethernet = Network.addEthernet()
        let internet = ReachabilityTarget.internet
        let changes = try internet.changes()
        var late = changes.makeAsyncIterator()
        // Hears of everything, so that it is known what the late one could have heard.
        var control = try internet.changes().makeAsyncIterator()
        for _ in 1...20 {
            ethernet.takeDefaultRoute()
            check(await control.next(), equals: [.reachable], "the control")
            ethernet.dropDefaultRoute()
            check(await control.next(), equals: [], "the control")
        }
        // Undone each time; the next thing that the late one hears of is what holds.
        ethernet.takeDefaultRoute()
        check(await control.next(), equals: [.reachable], "the control")
        check(await late.next(), equals: [.reachable], "the late reader")
        ethernet.dropDefaultRoute()
        check(await late.next(), equals: [], "the late reader")
    },

    AsyncScenario("changes: cancelling ends the sequence and lets go of the target") {
        let ethernet = Network.addEthernet()
        let heard = Locked(0)
        weak var released: ReachabilityTarget?
        let reading: Task<Void, any Error>
        do {
            let target = try ReachabilityTarget(host: Network.elsewhere)
            released = target
            let changes = try target.changes()
            reading = Task {
                for await _ in changes { heard.withLock { $0 += 1 } }
            }
            var control = try target.changes().makeAsyncIterator()
            for isOnline in [true, false, true] {
                if isOnline { ethernet.takeDefaultRoute() } else { ethernet.dropDefaultRoute() }
                check(await control.next(), equals: isOnline ? [.reachable] : [], "the control")
            }
        }
        reading.cancel()
        try await reading.value
        // A callout that was being made at that moment holds it a little longer.
        while released != nil { await Task.yield() }
        check(heard.withLock { $0 } <= 3, "more changes than there were")

        step("a task that is cancelled before it begins")
        let target = try ReachabilityTarget(host: Network.elsewhere)
        let nothing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var count = 0
            for await _ in try target.changes() { count += 1 }
            return count
        }
        check(try await nothing.value, equals: 0, "changes of a cancelled task")
    },

    AsyncScenario("changes: a sequence that is dropped lets go of the target") {
        _ = Network.addEthernet()
        weak var released: ReachabilityTarget?
        do {
            let target = ReachabilityTarget.internet
            released = target
            let changes = try target.changes()
            check(released != nil, "the sequence keeps the target")
            _ = changes.makeAsyncIterator()
        }
        check(released == nil, "the target is still there")
    },

    AsyncScenario("changes: sequences and a schedule of one target do not disturb each other") {
        let ethernet = Network.addEthernet()
        let target = try ReachabilityTarget(host: Network.elsewhere)
        let queue = try ReachabilityQueue.manual()
        let called = Locked<[ReachabilityFlags]>([])
        target.setCallback { _, flags in called.withLock { $0.append(flags) } }
        try target.setQueue(queue)
        var first = try target.changes().makeAsyncIterator()
        var second = try target.changes().makeAsyncIterator()
        ethernet.takeDefaultRoute()
        check(await first.next(), equals: [.reachable], "the first")
        check(await second.next(), equals: [.reachable], "the second")
        try target.setQueue(nil)
        try target.setQueue(queue)
        ethernet.dropDefaultRoute()
        check(await first.next(), equals: [], "the first")
        check(await second.next(), equals: [], "the second")
        while called.withLock({ $0.isEmpty }) { try dispatch(queue) }
        check(called.withLock { $0 }, equals: [[]], "the callback's flags")
        try target.setQueue(nil)
    },

    AsyncScenario("changes: a name always has a first one, and then those of its addresses") {
        Network.setHosts(["host.example": "203.0.113.9"])
        let ethernet = Network.addEthernet()
        let target = try ReachabilityTarget(host: "host.example")
        check(try target.flags(), equals: [], "a name, offline")
        var iterator = try target.changes().makeAsyncIterator()
        check(await iterator.next(), equals: [], "the first one, offline")
        ethernet.takeDefaultRoute()
        check(await iterator.next(), equals: [.reachable], "online")
        ip("route add unreachable 203.0.113.9/32")
        check(await iterator.next(), equals: [], "with its own route taken away")
    },

    AsyncScenario("path: the way a packet would take, and the reason why there is none") {
        let ethernet = Network.addEthernet()
        let target = try ReachabilityTarget(host: Network.elsewhere)
        let none = try target.path()
        check(none.flags, equals: [], "without a default route")
        check(none.reason, equals: .noRoute)
        check(none.interface == nil && none.gateway == nil, "a way where there is none: \(none)")
        ethernet.takeDefaultRoute()
        let path = try target.path()
        check(path.reason, equals: .reachable)
        check(path.interface?.name, equals: "eth0", "the link")
        check(path.interface?.kind, equals: .ethernet, "its kind")
        check(path.gateway, equals: IPAddress(ethernet.gateway), "the gateway")
        check(path.source, equals: IPAddress(ethernet.address), "the source")
        check(path.destination, equals: IPAddress(Network.elsewhere), "the destination")
        check(path.supportsIPv4 && !path.supportsIPv6, "the families")
        check(path.generation > none.generation, "the network did not change")
        check("\(path)", equals: "Reachable via 192.0.2.2 dev eth0 src 192.0.2.1", "its text")
        // The kernel takes a moment to call a link without carrier not running.
        var changes = try target.changes().makeAsyncIterator()
        ethernet.setCarrier(false)
        check(await changes.next(), equals: [], "the change without carrier")
        check(try target.path().flags, equals: [], "without carrier")
        check(try target.path().interface?.name, equals: "eth0", "the link without carrier")
        check(try ReachabilityTarget(local: IPAddress("192.0.2.99"), remote: nil).path().reason, equals: .notLocal)
    },
]

/// Waits for something on a manual queue; a signal is no failure.
func dispatch(_ queue: ReachabilityQueue) throws(Errno) {
    do throws(Errno) {
        try queue.dispatch(timeout: -1)
    } catch {
        guard error == .interrupted else { throw error }
    }
}
