// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import ReachabilitySwift
import ReachabilityTestSupport

private typealias Change = ReachabilityMonitor.Change

let monitorScenarios = [
    AsyncScenario("monitor: each transition among the statuses, by observer and by sequence") {
        let ethernet = Network.addEthernet()
        let modem = Network.addModem()
        let monitor = try ReachabilityMonitor(host: Network.elsewhere)
        check(monitor.isReachable || monitor.status == .notReachable, "optimistic")
        let queue = try ReachabilityQueue.threaded(label: "observers")
        let observed = Mailbox<Change>()
        let observation = try monitor.observe(on: queue) { observed.put($0) }
        var iterator = try monitor.changes().makeAsyncIterator()
        // The first answer may have come before anybody observed; a change of the host begins anew.
        try monitor.setHost("203.0.113.10")
        var status = ReachabilityStatus.unknown
        func expect(_ new: ReachabilityStatus) async {
            let change = await iterator.next()
            check(change?.status, equals: new, "the sequence's status")
            check(change?.previousStatus, equals: status, "the sequence's previous status")
            check(change?.host, equals: "203.0.113.10", "the sequence's host")
            var told = await observed.next()
            // An answer about the first host may have been told while it was the host.
            while told.host == Network.elsewhere { told = await observed.next() }
            check(told, equals: change, "what the observer was told")
            check(monitor.status, equals: new, "the status")
            check(monitor.isReachable, equals: new != .notReachable, "whether it is reachable")
            status = new
        }
        await expect(.notReachable)
        ethernet.takeDefaultRoute()
        await expect(.reachableViaWiFi)
        ip("route replace default dev modem0")
        await expect(.reachableViaWWAN)
        ethernet.takeDefaultRoute()
        await expect(.reachableViaWiFi)
        ethernet.dropDefaultRoute()
        await expect(.notReachable)
        ip("route add default dev modem0")
        await expect(.reachableViaWWAN)
        ip("route delete default")
        await expect(.notReachable)
        observation.cancel()
        withExtendedLifetime((modem, monitor)) {}
    },

    AsyncScenario("monitor: the host changed, twice and to the same; nothing about the old one comes") {
        Network.setHosts(["here.example": "192.0.2.3", "there.example": "203.0.113.9"])
        _ = Network.addEthernet()
        let monitor = try ReachabilityMonitor(host: "there.example")
        let queue = try ReachabilityQueue.threaded()
        let observed = Mailbox<Change>()
        let observation = try monitor.observe(on: queue) { observed.put($0) }
        var iterator = try monitor.changes().makeAsyncIterator()
        var late = try monitor.changes().makeAsyncIterator()
        ip("route add default via 192.0.2.2")
        while await iterator.next()?.status != .reachableViaWiFi {}
        while await observed.next().status != .reachableViaWiFi {}

        step("the same")
        try monitor.setHost("there.example")
        check(monitor.status, equals: .reachableViaWiFi, "the status")

        step("twice")
        for round in 1...20 {
            let last = round % 2 == 0 ? "there.example" : "here.example"
            try monitor.setHost("nobody.example")
            try monitor.setHost(last)
            check(monitor.host, equals: last, "the host")
            let expected = Change.make(.reachableViaWiFi, .unknown, last)
            // An answer about the host in between may have been told while it was the host.
            var change = await observed.next()
            while change.host == "nobody.example" { change = await observed.next() }
            check(change, equals: expected, "the observer")
            check(await iterator.next(), equals: expected, "the sequence")
        }
        check(await late.next(), equals: Change.make(.reachableViaWiFi, .unknown, "there.example"), "the late reader")

        step("one that nobody has, and one that is none")
        try monitor.setHost("nobody.example")
        check(await observed.next(), equals: Change.make(.notReachable, .unknown, "nobody.example"), "the observer")
        do throws(Errno) {
            try monitor.setHost("")
            fail("an empty host")
        } catch {
            check(error, equals: .invalidArgument, "the error")
        }
        check(monitor.host, equals: "nobody.example", "the host")
        withExtendedLifetime(observation) {}
    },

    AsyncScenario("monitor: when its last reference is gone, nothing is heard, and nothing is kept") {
        let ethernet = Network.addEthernet()
        let queue = try ReachabilityQueue.threaded()
        let observed = Mailbox<Change>()
        weak var captured: Mailbox<Int>?
        var monitor: ReachabilityMonitor? = try ReachabilityMonitor(host: Network.elsewhere)
        let observation: ReachabilityMonitor.Observation?
        do {
            let mailbox = Mailbox<Int>()
            captured = mailbox
            observation = try monitor?.observe(on: queue) { change in
                mailbox.put(1)
                observed.put(change)
            }
        }
        let control = try ReachabilityMonitor(host: "203.0.113.10")
        var iterator = try control.changes().makeAsyncIterator()
        ethernet.takeDefaultRoute()
        while await observed.next().status != .reachableViaWiFi {}
        while await iterator.next()?.status != .reachableViaWiFi {}
        check(captured != nil, "the observer keeps what it captured")
        try queue.flush()
        monitor = nil
        check(captured == nil, "the observer is still there")
        for _ in 1...3 {
            ethernet.dropDefaultRoute()
            check(await iterator.next()?.status, equals: .notReachable, "the control")
            ethernet.takeDefaultRoute()
            check(await iterator.next()?.status, equals: .reachableViaWiFi, "the control")
        }
        try queue.flush()
        check(observed.count, equals: 0, "what was heard of a monitor that is gone")
        observation?.cancel()
        observation?.cancel()
    },

    AsyncScenario("monitor: a sequence keeps its monitor, and ends with its task") {
        let ethernet = Network.addEthernet()
        weak var released: ReachabilityMonitor?
        let begun = Mailbox<ReachabilityStatus>()
        let reading: Task<Void, any Error>
        do {
            let monitor = try ReachabilityMonitor(host: Network.elsewhere)
            released = monitor
            let changes = try monitor.changes()
            reading = Task {
                for await change in changes { begun.put(change.status) }
            }
        }
        ethernet.takeDefaultRoute()
        while await begun.next() != .reachableViaWiFi {}
        check(released != nil, "the sequence keeps the monitor")
        reading.cancel()
        try await reading.value
        while released != nil { await Task.yield() }
    },

    AsyncScenario("monitor: observers added and removed inside observers, and the monitor let go of inside one") {
        let ethernet = Network.addEthernet()
        let queue = try ReachabilityQueue.threaded()
        let observed = Mailbox<String>()
        let held = Locked<(ReachabilityMonitor?, [ReachabilityMonitor.Observation])>((nil, []))
        let monitor = try ReachabilityMonitor(host: Network.elsewhere)
        held.withLock { $0.0 = monitor }
        let outer = try monitor.observe(on: queue) { change in
            observed.put("outer \(change.status)")
            guard change.status == .reachableViaWiFi else { return }
            let inner = try? held.withLock { $0.0 }?.observe(on: queue) { change in
                observed.put("inner \(change.status)")
                // Removes itself and everybody else.
                let all = held.withLock { held in
                    let all = held.1
                    held.1 = []
                    return all
                }
                for observation in all { observation.cancel() }
            }
            if let inner { held.withLock { $0.1.append(inner) } }
        }
        held.withLock { $0.1.append(outer) }
        ethernet.takeDefaultRoute()
        while await observed.next() != "outer reachable via Wi-Fi or cable" {}
        ethernet.dropDefaultRoute()
        check(await observed.next(), equals: "outer not reachable")
        check(await observed.next(), equals: "inner not reachable")
        var iterator = try monitor.changes().makeAsyncIterator()
        ethernet.takeDefaultRoute()
        check(await iterator.next()?.status, equals: .reachableViaWiFi, "the sequence")
        try queue.flush()
        check(observed.count, equals: 0, "what was heard after all were removed")

        step("let go of inside an observer")
        let another = Locked<ReachabilityMonitor?>(try ReachabilityMonitor(host: "203.0.113.10"))
        let ended = Mailbox<ReachabilityStatus>()
        let observation = try another.withLock { monitor in
            try monitor?.observe(on: queue) { change in
                if change.status == .notReachable {
                    let last = another.withLock { monitor in
                        let last = monitor
                        monitor = nil
                        return last
                    }
                    withExtendedLifetime(last) {}
                    ended.put(change.status)
                }
            }
        }
        var control = iterator
        ethernet.dropDefaultRoute()
        check(await ended.next(), equals: .notReachable, "the last it was told")
        check(await control.next()?.status, equals: .notReachable, "the control")
        for isOnline in [true, false] {
            if isOnline { ethernet.takeDefaultRoute() } else { ethernet.dropDefaultRoute() }
            check(await control.next()?.status, equals: isOnline ? .reachableViaWiFi : .notReachable, "the control")
        }
        try queue.flush()
        check(ended.count, equals: 0, "what was heard of a monitor that is gone")
        withExtendedLifetime(observation) {}
    },

    AsyncScenario("monitor: the shared one, first used by many threads at once, and observers of all") {
        Network.setHosts(["apple.com": "203.0.113.9"])
        let ethernet = Network.addEthernet()
        let queue = try ReachabilityQueue.threaded()
        let observed = Mailbox<Change>()
        let all = try ReachabilityMonitor.observeAll(on: queue) { observed.put($0) }
        let found = try await withThrowingTaskGroup(of: ReachabilityMonitor.self) { group in
            for _ in 0..<16 { group.addTask { try ReachabilityMonitor.shared } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let shared = try ReachabilityMonitor.shared
        check(found.count == 16 && found.allSatisfy { $0 === shared }, "more than one shared monitor")
        check(shared.host, equals: "apple.com", "its host")
        check(await observed.next(), equals: Change.make(.notReachable, .unknown, "apple.com"), "the first answer")
        ethernet.takeDefaultRoute()
        let online = Change.make(.reachableViaWiFi, .notReachable, "apple.com")
        check(await observed.next(), equals: online, "the next answer")

        step("one made later")
        let own = try ReachabilityMonitor(host: "192.0.2.1")
        check(await observed.next(), equals: Change.make(.reachableViaWiFi, .unknown, "192.0.2.1"), "its answer")
        all.cancel()
        withExtendedLifetime(own) {}
    },
]

extension ReachabilityMonitor.Change {
    fileprivate static func make(
        _ status: ReachabilityStatus, _ previous: ReachabilityStatus, _ host: String
    ) -> ReachabilityMonitor.Change {
        ReachabilityMonitor.Change(status: status, previousStatus: previous, host: host)
    }
}

/// Where callbacks put what they were told, for a task to take it out in order.
final class Mailbox<Element: Sendable>: Sendable {
    private let state = Locked<(elements: [Element], reader: CheckedContinuation<Element, Never>?)>(([], nil))

    /// How many nobody has taken out.
    var count: Int { state.withLock { $0.elements.count } }

    func put(_ element: Element) {
        let reader = state.withLock { state in
            let reader = state.reader
            if reader == nil { state.elements.append(element) }
            state.reader = nil
            return reader
        }
        reader?.resume(returning: element)
    }

    /// For one reader at a time.
    func next() async -> Element {
        await withCheckedContinuation { reader in
            let element: Element? = state.withLock { state in
                guard state.elements.isEmpty else { return state.elements.removeFirst() }
                state.reader = reader
                return nil
            }
            if let element { reader.resume(returning: element) }
        }
    }
}
