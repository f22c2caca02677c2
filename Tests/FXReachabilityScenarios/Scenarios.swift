// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Dispatch
import FXReachability
import Foundation
import ReachabilitySwift
import ReachabilityTestSupport

let scenarios: [Scenario<@Sendable () throws -> Void>] = [
    Scenario("observing is all there is to do, and the shared instance starts itself") {
        Network.setHosts(["apple.com": Network.elsewhere])
        let ethernet = Network.addEthernet()
        let statuses = Locked<[FXReachabilityStatus]>([])
        let token = NotificationCenter.default.addObserver(
            forName: FXReachabilityStatusDidChangeNotification, object: nil, queue: nil
        ) { notification in
            _ = Heard(notification)
            guard let reachability = notification.object as? FXReachability else { fail("no instance") }
            check(reachability === FXReachability.shared, "another instance")
            check(reachability.isReachable, equals: FXReachability.isReachable, "whether it is reachable")
            let status = reachability.status
            statuses.withLock { $0.append(status) }
        }
        check(FXReachability.shared === FXReachability.sharedInstance(), "more than one shared instance")
        check(FXReachability.shared.host, equals: "apple.com", "its host")
        runUntil { statuses.withLock { $0 } == [.notReachable] }
        ethernet.takeDefaultRoute()
        runUntil { statuses.withLock { $0 } == [.notReachable, .reachableViaWiFi] }
        check(FXReachability.isReachable, "not reachable")
        ethernet.setCarrier(false)
        runUntil { statuses.withLock { $0 } == [.notReachable, .reachableViaWiFi, .notReachable] }
        check(!FXReachability.isReachable, "reachable")
        NotificationCenter.default.removeObserver(token)
    },

    Scenario("each transition among the statuses, with the one before") {
        let ethernet = Network.addEthernet()
        let modem = Network.addModem()
        let instance = FXReachability(host: Network.elsewhere)
        check(instance.status, equals: .unknown, "the status before the first notification")
        check(instance.isReachable, "it is not optimistic")
        let listener = Listener(to: instance)
        var status = FXReachabilityStatus.unknown
        func expect(_ new: FXReachabilityStatus) {
            check(listener.next(), equals: Heard(Network.elsewhere, new, was: status), "the notification")
            check(instance.status, equals: new, "the status")
            check(instance.isReachable, equals: new != .notReachable, "whether it is reachable")
            status = new
        }
        expect(.notReachable)
        ethernet.takeDefaultRoute()
        expect(.reachableViaWiFi)
        ip("route replace default dev modem0")
        expect(.reachableViaWWAN)
        ethernet.takeDefaultRoute()
        expect(.reachableViaWiFi)
        ethernet.dropDefaultRoute()
        expect(.notReachable)
        ip("route add default dev modem0")
        expect(.reachableViaWWAN)
        ip("route delete default")
        expect(.notReachable)
        withExtendedLifetime(modem) {}
    },

    Scenario("the host changed: unknown at once, nothing sent by that, and nothing about the old one") {
        Network.setHosts(["here.example": "192.0.2.3", "there.example": Network.elsewhere])
        let ethernet = Network.addEthernet()
        ethernet.takeDefaultRoute()
        let instance = FXReachability(host: "there.example")
        let listener = Listener(to: instance)
        check(listener.next(), equals: Heard("there.example", .reachableViaWiFi, was: .unknown), "the first one")

        step("the same")
        instance.host = "there.example"
        check(instance.status, equals: .reachableViaWiFi, "the status")

        step("twice at once")
        for round in 1...20 {
            let last = round % 2 == 0 ? "there.example" : "here.example"
            instance.host = "nobody.example"
            check(instance.status, equals: .unknown, "the status")
            check(instance.isReachable, "it is not optimistic")
            instance.host = last
            check(instance.host, equals: last, "the host")
            check(instance.status, equals: .unknown, "the status")
            check(listener.count, equals: 0, "what was sent by setting the host")
            check(listener.next(), equals: Heard(last, .reachableViaWiFi, was: .unknown), "the notification")
        }

        step("one that nobody has")
        instance.host = "nobody.example"
        check(listener.next(), equals: Heard("nobody.example", .notReachable, was: .unknown), "the notification")

        step("one that is none")
        instance.host = ""
        check(instance.host, equals: "nobody.example", "the host")
        check(instance.status, equals: .notReachable, "the status")
        let empty = FXReachability(host: "")
        check(empty.status, equals: .unknown, "the status of no host")
        empty.host = "192.0.2.1"
        let other = Listener(to: empty)
        check(other.next(), equals: Heard("192.0.2.1", .reachableViaWiFi, was: .unknown), "the notification")
    },

    Scenario("when the last reference is gone, nothing is sent any more") {
        let ethernet = Network.addEthernet()
        let control = FXReachability(host: "203.0.113.10")
        let listener = Listener(to: control)
        let all = Listener()
        weak var released: FXReachability?
        do {
            let instance = FXReachability(host: Network.elsewhere)
            released = instance
            let own = Listener(to: instance)
            check(own.next(), equals: Heard(Network.elsewhere, .notReachable, was: .unknown), "the first one")
            check(listener.next(), equals: Heard("203.0.113.10", .notReachable, was: .unknown), "the control")
            // The change has happened, and nobody has run the main thread since.
            ethernet.takeDefaultRoute()
        }
        check(released == nil, "the instance is still there")
        // Nothing goes on behind the notifications either.
        let behind = Locked<Set<String>>([])
        let queue = try ReachabilityQueue.threaded()
        let told = DispatchSemaphore(value: 0)
        let observation = try ReachabilityMonitor.observeAll(on: queue) { change in
            behind.withLock { _ = $0.insert(change.host) }
            if change.host == "203.0.113.10" { told.signal() }
        }
        while all.count > 0 { _ = all.next() }
        for status in [FXReachabilityStatus.reachableViaWiFi, .notReachable, .reachableViaWiFi] {
            check(listener.next().status, equals: status, "the control")
            check(all.next().host, equals: "203.0.113.10", "whose notification it is")
            if status == .notReachable { ethernet.takeDefaultRoute() } else { ethernet.dropDefaultRoute() }
        }
        for _ in 1...3 { told.wait() }
        check(behind.withLock { $0 }, equals: ["203.0.113.10"], "whose status is still found out")
        observation.cancel()
    },

    Scenario("made and let go of on other threads, it still speaks on the main thread") {
        let ethernet = Network.addEthernet()
        let made = Locked<[FXReachability]>([])
        let group = DispatchGroup()
        for number in 1...8 {
            DispatchQueue.global().async(group: group) {
                let instance = FXReachability(host: "203.0.113.\(number)")
                made.withLock { $0.append(instance) }
            }
        }
        group.wait()
        let all = Listener()
        ethernet.takeDefaultRoute()
        var online: Set<String> = []
        while online.count < 8 {
            let heard = all.next()
            if heard.status == .reachableViaWiFi { online.insert(heard.host) }
        }
        ethernet.dropDefaultRoute()
        DispatchQueue.global().async(group: group) { made.withLock { $0.removeAll() } }
        let isDone = Locked(false)
        group.notify(queue: .main) { isDone.withLock { $0 = true } }
        runUntil { isDone.withLock { $0 } }
    },

    Scenario("let go of inside its own notification") {
        let ethernet = Network.addEthernet()
        let instance = Locked<FXReachability?>(FXReachability(host: Network.elsewhere))
        weak let released = instance.withLock { $0 }
        let heard = Locked(0)
        let token = NotificationCenter.default.addObserver(
            forName: .init("FXReachabilityStatusDidChangeNotification"), object: released, queue: nil
        ) { _ in
            heard.withLock { $0 += 1 }
            let last = instance.withLock { instance in
                let last = instance
                instance = nil
                return last
            }
            withExtendedLifetime(last) {}
        }
        runUntil { heard.withLock { $0 } == 1 }
        check(released == nil, "the instance is still there")
        let control = FXReachability(host: "203.0.113.10")
        let listener = Listener(to: control)
        ethernet.takeDefaultRoute()
        while listener.next().status != .reachableViaWiFi {}
        check(heard.withLock { $0 }, equals: 1, "how often it spoke")
        NotificationCenter.default.removeObserver(token)
    },

    Scenario("with no thread of its own, and nothing to do while nothing happens") {
        let ethernet = Network.addEthernet()
        ethernet.takeDefaultRoute()
        let all = Listener()
        let instances = (1...10).map { FXReachability(host: "203.0.113.\($0)") }
        for _ in instances { check(all.next().status, equals: .reachableViaWiFi, "the status") }
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        for task in tasks {
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            check(name?.hasPrefix("reach-") != true, "a thread named \(name ?? "")")
        }
        // One wait, and what it takes to begin and to end it.
        let before = switches()
        let end = Date(timeIntervalSinceNow: 3)
        while Date() < end { _ = RunLoop.main.run(mode: .default, before: end) }
        let during = switches() - before
        check(during < 20, "\(during) context switches of an idle process")
        check(all.count, equals: 0, "notifications of no change")
        withExtendedLifetime(instances) {}
    },

    Scenario("on the main queue of a program without a run loop") {
        let ethernet = Network.addEthernet()
        let instance = FXReachability(host: Network.elsewhere)
        let statuses = Locked<[FXReachabilityStatus]>([])
        _ = NotificationCenter.default.addObserver(
            forName: FXReachabilityStatusDidChangeNotification, object: instance, queue: nil
        ) { notification in
            dispatchPrecondition(condition: .onQueue(.main))
            guard let status = notification.userInfo?["status"] as? FXReachabilityStatus else { fail("no status") }
            let all = statuses.withLock { statuses in
                statuses.append(status)
                return statuses
            }
            if all == [.notReachable] { ethernet.takeDefaultRoute() }
            if all == [.notReachable, .reachableViaWiFi] { exit(0) }
        }
        dispatchMain()
    },
]

/// The voluntary context switches of all threads of this process so far; under a checker, which has a busy thread of
/// its own, those of the main thread.
private func switches() -> Int {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let tasks = Patience.factor > 1 ? ["\(getpid())"] : all
    return tasks.reduce(0) { sum, task in
        let status = (try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
    }
}
