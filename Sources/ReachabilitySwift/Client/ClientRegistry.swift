// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Synchronization

/// What callers refer to by number: confirmations under way and observers. One for each process.
///
/// Numbers count up and are never used again, so that a late cancel cannot hit somebody else's.
final class ClientRegistry: ProcessObject, @unchecked Sendable {
    private static var local: ForkLocal<ClientRegistry> { ForkLocal(.clients) { ClientRegistry() } }

    static var current: ClientRegistry { local.current }

    enum Kind: Sendable {
        case confirmation, observer
    }

    /// Something with a number.
    class Entry: @unchecked Sendable {
        final let kind: Kind
        fileprivate(set) final var id: UInt64 = 0

        init(_ kind: Kind) {
            self.kind = kind
        }

        /// It is out of the registry, because a caller gave its number. Called without any lock. Returns whether it was
        /// in time.
        func cancel() -> Bool { false }
    }

    /// No other lock is taken under it.
    private let lock = Lock()
    /// Goes on in a forked child, where its parent's numbers mean nothing.
    private static let lastID = Atomic<UInt64>(0)
    /// In the order of their numbers.
    private var entries: [Entry] = []
    /// Observers of all monitors.
    private var universal: [MonitorObserver] = []
    private var shared: MonitorCore?
    /// Whoever makes the shared monitor makes it ready before anybody gets it. Outermost.
    private let sharing = Lock()
    private var engine: ReachabilityQueue?

    func register(_ entry: Entry) {
        lock.withLock {
            entry.id = ClientRegistry.lastID.wrappingAdd(1, ordering: .relaxed).newValue
            entries.append(entry)
        }
    }

    /// Takes an entry out. Nil when it is not, or no longer, in.
    func remove(_ id: UInt64, _ kind: Kind) -> Entry? {
        lock.withLock {
            let place = place(of: id)
            guard place < entries.count, entries[place].id == id, entries[place].kind == kind else { return nil }
            return entries.remove(at: place)
        }
    }

    private func place(of id: UInt64) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Monitors

    func addUniversal(_ observer: MonitorObserver) {
        lock.withLock { universal.append(observer) }
    }

    func removeUniversal(_ observer: MonitorObserver) {
        lock.withLock { universal.removeAll { $0 === observer } }
    }

    var universalObservers: [MonitorObserver] {
        lock.withLock { universal }
    }

    /// The queue on which monitors are driven that were not given another one, started with the first of them.
    func monitorEngine() throws(Errno) -> ReachabilityQueue {
        try lock.withLock { () throws(Errno) -> ReachabilityQueue in
            if let engine { return engine }
            let new = try ReachabilityQueue.threaded(label: [UInt8]("reach-monitor"))
            engine = new
            return new
        }
    }

    /// The monitor that everybody shares, made by the first who asks for it.
    func sharedMonitor(startingWith host: [UInt8]) throws(Errno) -> MonitorCore {
        if let shared = lock.withLock({ shared }) { return shared }
        return try sharing.withLock { () throws(Errno) -> MonitorCore in
            if let shared = lock.withLock({ shared }) { return shared }
            let new = MonitorCore(engine: try monitorEngine(), isShared: true)
            try new.setHost(host)
            lock.withLock { shared = new }
            return new
        }
    }
}
