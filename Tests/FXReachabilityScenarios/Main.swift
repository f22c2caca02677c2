// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Dispatch
import FXReachability
import Foundation
import ReachabilitySwift
import ReachabilityTestSupport

/// Notifications come on the main thread, which a test does not have: so each scenario is a program's main thread.
@main
enum Program {
    static func main() throws {
        try Scenarios.chosen(from: scenarios).body()
    }
}

/// A notification, as its observer found it.
struct Heard: Equatable, Sendable {
    let host: String
    let status: FXReachabilityStatus
    let previousStatus: FXReachabilityStatus

    init(_ host: String, _ status: FXReachabilityStatus, was previousStatus: FXReachabilityStatus) {
        self.host = host
        self.status = status
        self.previousStatus = previousStatus
    }

    /// Checks everything that holds for every notification.
    init(_ notification: Notification) {
        check(Thread.isMainThread, "a notification on another thread")
        check(notification.name.rawValue, equals: "FXReachabilityStatusDidChangeNotification", "its name")
        let instance = notification.object as? FXReachability
        check(instance != nil, "its object is no instance")
        let host = notification.userInfo?["host"] as? String
        let status = notification.userInfo?["status"] as? FXReachabilityStatus
        let previous = notification.userInfo?["previousStatus"] as? FXReachabilityStatus
        guard let host, let status, let previous else { fail("it says \(notification.userInfo ?? [:])") }
        check(notification.userInfo?[FXReachabilityNotificationHostKey] as? String, equals: host)
        check(notification.userInfo?[FXReachabilityNotificationStatusKey] as? Int, equals: status.rawValue)
        check(notification.userInfo?[FXReachabilityNotificationPreviousStatusKey] as? Int, equals: previous.rawValue)
        check(notification.userInfo?.count, equals: 3, "the number of what it says")
        check(status != previous, "it is about no change")
        self.init(host, status, was: previous)
    }
}

/// Hears of notifications, and runs the main run loop until they are there.
final class Listener {
    private final class Inbox: Sendable {
        let heard = Locked<[Heard]>([])
    }

    private let inbox = Inbox()
    private let token: any NSObjectProtocol

    /// Of one instance, or of all.
    init(to instance: FXReachability? = nil) {
        token = NotificationCenter.default.addObserver(
            forName: NSNotification.Name("FXReachabilityStatusDidChangeNotification"), object: instance, queue: nil
        ) { [inbox] notification in
            let heard = Heard(notification)
            inbox.heard.withLock { $0.append(heard) }
        }
    }

    deinit {
        NotificationCenter.default.removeObserver(token)
    }

    /// How many nobody has asked for.
    var count: Int { inbox.heard.withLock { $0.count } }

    func next() -> Heard {
        runUntil { count > 0 }
        return inbox.heard.withLock { $0.removeFirst() }
    }
}

/// Runs the main run loop until something holds that comes about on the main thread.
func runUntil(_ condition: () -> Bool) {
    while !condition() { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
}
