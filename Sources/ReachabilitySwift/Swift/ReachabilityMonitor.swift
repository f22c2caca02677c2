// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// The status of a host, kept up to date.
///
/// A monitor looks its host up from the moment it is made, and whenever the network changes. A program that only wants
/// to know whether it is online is better served by ReachabilityTarget.internet, which causes no traffic at all.
///
/// It ends when its last reference is gone: then nothing is heard any more.
///
/// Mirrors FXReachability, without Foundation.
public final class ReachabilityMonitor: Sendable {
    private let core: MonitorCore
    /// The one that everybody shares is not this object's to end.
    private let isOwner: Bool

    /// Makes and starts a monitor. Its status is unknown until the first answer.
    ///
    /// - Parameter host: a name, or an address in text, as for ReachabilityTarget.init(host:).
    /// - Throws: invalidArgument when it is empty or holds a NUL, or the error of the system call that failed.
    ///
    /// Mirrors reach_monitor_create.
    public init(host: String) throws(Errno) {
        core = try MonitorCore.start(host: [UInt8](host.utf8))
        isOwner = true
    }

    private init(shared: MonitorCore) {
        core = shared
        isOwner = false
    }

    deinit {
        if isOwner { core.end() }
    }

    private static let sharedWrapper = Locked<ReachabilityMonitor?>(nil)

    /// The monitor that everybody in the process can use, C code included. Its host is apple.com until changed.
    ///
    /// The first use starts it.
    ///
    /// - Throws: the error of the system call that failed; the next use tries again.
    ///
    /// Mirrors reach_monitor_shared.
    public static var shared: ReachabilityMonitor {
        get throws(Errno) {
            let core = try MonitorCore.shared()
            return sharedWrapper.withLock { wrapper in
                // In a forked child it is another one.
                if let wrapper, wrapper.core === core { return wrapper }
                let new = ReachabilityMonitor(shared: core)
                wrapper = new
                return new
            }
        }
    }

    /// The status: unknown before the first answer, and after the host was changed until there is an answer about the
    /// new one.
    public var status: ReachabilityStatus { core.status }

    /// Whether it is worth trying: true unless the host is known to be not reachable.
    public var isReachable: Bool { core.status != .notReachable }

    /// The host that the status is about.
    public var host: String { String(decoding: core.host, as: UTF8.self) }

    /// Changes the host. The status is unknown at once, nothing is told by that, and no answer about the old host comes
    /// later; setting the same host again does nothing.
    ///
    /// - Parameter host: a name, or an address in text, as for init(host:).
    /// - Throws: invalidArgument when it is empty or holds a NUL, or the error of the system call that failed; then the
    ///   old host stays.
    ///
    /// Mirrors reach_monitor_set_host.
    public func setHost(_ host: String) throws(Errno) {
        try core.setHost([UInt8](host.utf8))
    }

    /// A change of the status.
    public struct Change: Equatable, Sendable {
        /// The status now.
        public let status: ReachabilityStatus
        /// The status before: of observers the one before, of a sequence the last one that its reader was given.
        public let previousStatus: ReachabilityStatus
        /// The host that both are about.
        public let host: String

        /// A change with these parts, as a program's own tests may need one.
        public init(status: ReachabilityStatus, previousStatus: ReachabilityStatus, host: String) {
            self.status = status
            self.previousStatus = previousStatus
            self.host = host
        }
    }

    /// Adds an observer. It hears of every change of the status after this call, in order, with the status before.
    ///
    /// - Parameters:
    ///   - queue: where it is called; kept alive until the observation ends.
    ///   - observer: called when the status changed. What it captured is let go when the observation ends.
    /// - Returns: the observation, which ends when it is cancelled or its last reference gone.
    /// - Throws: stale for a queue of this process's parent.
    ///
    /// Mirrors reach_monitor_add_observer.
    public func observe(
        on queue: ReachabilityQueue, _ observer: @escaping @Sendable (Change) -> Void
    ) throws(Errno) -> Observation {
        try Observation(of: core, on: queue, observer)
    }

    /// Adds an observer of all monitors, those made later and those of C code included.
    ///
    /// - Parameters:
    ///   - queue: where it is called; kept alive until the observation ends.
    ///   - observer: called when the status of a monitor changed. What it captured is let go when the observation ends.
    /// - Returns: the observation, which ends when it is cancelled or its last reference gone.
    /// - Throws: stale for a queue of this process's parent.
    ///
    /// Mirrors reach_monitor_add_observer without a monitor.
    public static func observeAll(
        on queue: ReachabilityQueue, _ observer: @escaping @Sendable (Change) -> Void
    ) throws(Errno) -> Observation {
        try Observation(of: nil, on: queue, observer)
    }

    /// An observer's hold on its monitor.
    public final class Observation: Sendable {
        private let id: UInt64

        fileprivate init(
            of core: MonitorCore?, on queue: ReachabilityQueue, _ observer: @escaping @Sendable (Change) -> Void
        ) throws(Errno) {
            id = try MonitorCore.addObserver(to: core, on: queue) { _, status, previous, host in
                let host = String(decoding: host, as: UTF8.self)
                observer(Change(status: status, previousStatus: previous, host: host))
            }
        }

        deinit {
            cancel()
        }

        /// Ends the observation. Called on its queue, nothing is heard after this returned; from elsewhere, a call that
        /// is being made already is not waited for. Cancelling again does nothing.
        public func cancel() {
            try? MonitorCore.removeObserver(id)
        }
    }

    /// The changes of the status from now on as a sequence.
    ///
    ///     for await change in try monitor.changes() { print(change.host, change.status) }
    ///
    /// Nothing is missed between this call and the first look. A reader that comes late is told of the status as it is
    /// then; what came and went meanwhile, it is not told.
    ///
    /// - Returns: a sequence for one reader, which ends when the reader's task is cancelled. It keeps the monitor
    ///   alive.
    /// - Throws: the error of the system call that failed.
    public func changes() throws(Errno) -> Changes {
        try Changes(of: self)
    }

    /// The changes of a monitor's status. See changes().
    public struct Changes: AsyncSequence, Sendable {
        public typealias Element = Change
        public typealias Failure = Never

        private let handle: FeedHandle<ObservedStatus>

        fileprivate init(of monitor: ReachabilityMonitor) throws(Errno) {
            let queue = try ClientRegistry.current.monitorEngine()
            let feed = ChangeFeed(ObservedStatus(monitor))
            let observation = try monitor.observe(on: queue) { _ in feed.update { _ in } }
            feed.begin { observation.cancel() }
            handle = FeedHandle(feed)
        }

        public func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let handle: FeedHandle<ObservedStatus>

            public mutating func next() async -> Change? {
                await handle.feed.next()
            }

            public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
                await handle.feed.next()
            }
        }
    }

    /// The status of a monitor, and what its reader knows.
    fileprivate struct ObservedStatus: ChangeSource {
        private let monitor: ReachabilityMonitor
        private var readStatus: ReachabilityStatus
        private var readHostChanges: UInt64

        init(_ monitor: ReachabilityMonitor) {
            self.monitor = monitor
            let known = monitor.core.snapshot
            readStatus = known.status
            readHostChanges = known.hostChanges
        }

        /// What is known is asked for at the moment of reading, so that nothing about an old host is told.
        mutating func take() -> Change? {
            let known = monitor.core.snapshot
            let previous = known.hostChanges == readHostChanges ? readStatus : .unknown
            guard known.status != previous else { return nil }
            readStatus = known.status
            readHostChanges = known.hostChanges
            let host = String(decoding: known.host, as: UTF8.self)
            return Change(status: known.status, previousStatus: previous, host: host)
        }
    }
}
