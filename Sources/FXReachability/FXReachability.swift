// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import ReachabilitySwift

/// The status of a host, kept up to date and told by notifications.
///
///     NotificationCenter.default.addObserver(
///         forName: FXReachabilityStatusDidChangeNotification, object: nil, queue: nil
///     ) { _ in
///         print(FXReachability.isReachable)
///     }
///
/// Instances are meant for the main thread, whose queue they use: it must be run, by a run loop or by dispatchMain, for
/// anything to be heard. They start no thread but those of name look-ups. Using one from another thread does no harm,
/// but what it says then may be newer than the last notification. When its last reference goes, nothing is sent any
/// more.
///
/// An instance looks its host up, and looks it up again whenever the network changes. A program that only wants to know
/// whether it is online is better served by ReachabilityTarget.internet, which causes no traffic at all.
///
/// Mirrors the class of the same name for Apple's systems.
public final class FXReachability: NSObject, @unchecked Sendable {
    private struct State {
        /// What was asked for. The monitor has it too, unless it could not be started.
        var host: String
        /// Nil while it could not be started, such as for want of descriptors.
        var monitor: MonitorCore?
    }

    private let state: Locked<State>

    /// The instance that everybody in the process uses. Its host is apple.com until changed.
    ///
    /// It starts itself at the first use of it, or of the name of the notification.
    public static let shared = FXReachability(host: String(decoding: MonitorCore.sharedHost, as: UTF8.self))

    /// The shared instance, by its older name.
    public static func sharedInstance() -> FXReachability { shared }

    /// Whether it is worth trying to reach the shared instance's host. See the property of the same name.
    public static var isReachable: Bool { shared.isReachable }

    /// Makes an instance and starts to look for its host, after which a notification is sent.
    ///
    /// - Parameter host: a name, or an address in text: "0.0.0.0" is the internet at large. For an empty one the status
    /// stays
    ///   unknown.
    public init(host: String) {
        state = Locked(State(host: host))
        super.init()
        _ = startedMonitor()
    }

    deinit {
        state.withLock { $0.monitor }?.end()
    }

    /// The status: unknown until the first notification, and after the host was changed until the next.
    public var status: FXReachabilityStatus {
        startedMonitor().map { FXReachabilityStatus($0.status) } ?? .unknown
    }

    /// Whether it is worth trying: true unless the host is known to be not reachable.
    public var isReachable: Bool { status != .notReachable }

    /// The host that is looked for.
    ///
    /// Changing it makes the status unknown at once, and sends nothing by itself; no notification about the old host
    /// comes later. Setting the same host again does nothing, and neither does one that cannot be set, such as an empty
    /// one.
    public var host: String {
        get {
            state.withLock { $0.host }
        }
        set {
            let monitor = startedMonitor()
            state.withLock { state in
                guard let monitor else {
                    state.host = newValue
                    return
                }
                guard (try? monitor.setHost([UInt8](newValue.utf8))) != nil else { return }
                state.host = newValue
            }
            if monitor == nil { _ = startedMonitor() }
        }
    }

    /// The monitor behind the instance, which is started if that did not succeed before.
    private func startedMonitor() -> MonitorCore? {
        state.withLock { state in
            if let monitor = state.monitor { return monitor }
            state.monitor = try? makeMonitor(of: state.host)
            return state.monitor
        }
    }

    private func makeMonitor(of host: String) throws(Errno) -> MonitorCore {
        let queue = try MainQueue.reachability()
        let monitor = MonitorCore(engine: queue)
        // First of all, so that nothing is missed; what is heard here is heard on the main thread.
        _ = try MonitorCore.addObserver(to: monitor, on: queue) { [weak self] _, status, previous, host in
            self?.post(status, previous, host)
        }
        do throws(Errno) {
            try monitor.setHost([UInt8](host.utf8))
        } catch {
            monitor.end()
            throw error
        }
        return monitor
    }

    private func post(_ status: ReachabilityStatus, _ previous: ReachabilityStatus, _ host: [UInt8]) {
        NotificationCenter.default.post(
            name: FXReachabilityNotification.name, object: self,
            userInfo: [
                FXReachabilityNotificationStatusKey: FXReachabilityStatus(status)._bridgeToObjectiveC(),
                FXReachabilityNotificationPreviousStatusKey: FXReachabilityStatus(previous)._bridgeToObjectiveC(),
                FXReachabilityNotificationHostKey: String(decoding: host, as: UTF8.self),
            ])
    }
}
