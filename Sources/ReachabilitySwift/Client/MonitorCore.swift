// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Synchronization

/// The status of a host with a memory, and those who observe it.
///
/// It is driven by a queue of its own choosing, the engine; observers are told on the queues that they asked for.
/// Statuses change on the engine alone, so that every observer hears them in order.
package final class MonitorCore: @unchecked Sendable {
    package static var sharedHost: [UInt8] { [UInt8]("apple.com") }

    /// References that callers in other languages hold. The object itself may live longer, during a callout.
    package let references = Atomic<Int>(1)

    /// It was made as the one that everybody shares, by this process or by the one it was forked from. It is never
    /// freed.
    package let isShared: Bool

    private let engine: ReachabilityQueue
    /// One change of the host at a time. Outermost: everything else may be taken under it, and no callout is made.
    private let changing = Lock()
    /// Guards what follows. Innermost.
    private let lock = Lock()
    private var currentHost: [UInt8] = []
    private var currentStatus = ReachabilityStatus.unknown
    /// How often the host was changed: what was found about a host under another number is of no account.
    private var hostChanges: UInt64 = 0
    private var subscription: MonitorSubscription?
    private var observers: [MonitorObserver] = []
    private var isEnded = false

    package init(engine: ReachabilityQueue, isShared: Bool = false) {
        self.engine = engine
        self.isShared = isShared
    }

    /// A monitor for a host, on the engine that all share.
    package static func start(host: [UInt8]) throws(Errno) -> MonitorCore {
        // A name that is none is to start nothing.
        _ = try Destination(name: host)
        return try start(host: host, engine: try ClientRegistry.current.monitorEngine())
    }

    package static func start(host: [UInt8], engine: ReachabilityQueue) throws(Errno) -> MonitorCore {
        let core = MonitorCore(engine: engine)
        try core.setHost(host)
        return core
    }

    package static func shared() throws(Errno) -> MonitorCore {
        try ClientRegistry.current.sharedMonitor(startingWith: sharedHost)
    }

    /// Changes the shared monitor's host; when it is not there yet, it begins with that one.
    package static func setSharedHost(_ host: [UInt8]) throws(Errno) {
        try ClientRegistry.current.sharedMonitor(startingWith: host).setHost(host)
    }

    fileprivate func checkProcess() throws(Errno) {
        try engine.checkProcess()
    }

    /// Reads under the lock. In a forked child the parent's thread that had it is not there to give it back, and nobody
    /// changes anything either.
    private func read<Result>(_ body: () -> Result) -> Result {
        engine.reactor.process.isCurrent ? lock.withLock(body) : body()
    }

    package var status: ReachabilityStatus { read { currentStatus } }

    package var host: [UInt8] { read { currentHost } }

    /// Everything that is known, as it stood at one moment.
    package var snapshot: (status: ReachabilityStatus, host: [UInt8], hostChanges: UInt64) {
        read { (currentStatus, currentHost, hostChanges) }
    }

    /// Changes the host. The status is unknown from then on, and nothing about the old host is told any more.
    package func setHost(_ new: [UInt8]) throws(Errno) {
        let destination = try Destination(name: new)
        try checkProcess()
        try changing.withLock { () throws(Errno) in
            if host == new { return }
            let fresh = MonitorSubscription(self, ReachabilityTarget(destination), engine)
            try engine.reactor.add(fresh)
            let (old, isEnded) = lock.withLock {
                let old = subscription
                if !self.isEnded {
                    subscription = fresh
                    currentHost = new
                    currentStatus = .unknown
                    hostChanges += 1
                }
                return (old, self.isEnded)
            }
            if isEnded {
                engine.reactor.remove(fresh)
                return
            }
            if let old { engine.reactor.remove(old) }
            // What it found before it was the one that counts was not taken.
            engine.reactor.renotify(fresh)
        }
    }

    /// Ends the monitor: its observers hear nothing more.
    ///
    /// In a forked child nothing happens: what the parent's monitor holds is the parent's.
    package func end() {
        guard engine.reactor.process.isCurrent else { return }
        let (old, gone) = lock.withLock {
            let old = subscription
            let gone = observers
            isEnded = true
            subscription = nil
            observers = []
            return (old, gone)
        }
        if let old { engine.reactor.remove(old) }
        for observer in gone {
            _ = ClientRegistry.current.remove(observer.id, .observer)
            observer.deactivate()
        }
    }

    /// Takes in a status that a subscription found. False when it is not the one that counts.
    fileprivate func take(_ new: ReachabilityStatus, from source: MonitorSubscription) -> Bool {
        let news: (previous: ReachabilityStatus, host: [UInt8], observers: [MonitorObserver])? = lock.withLock {
            guard subscription === source else { return nil }
            let previous = currentStatus
            currentStatus = new
            return (previous, currentHost, observers)
        }
        guard let news else { return false }
        if news.previous == new { return true }
        for observer in news.observers + ClientRegistry.current.universalObservers {
            observer.tell(
                MonitorNews(core: self, source: source, status: new, previous: news.previous, host: news.host))
        }
        return true
    }

    /// Whether what a subscription found still counts.
    fileprivate func isCurrent(_ source: MonitorSubscription) -> Bool {
        lock.withLock { subscription === source }
    }

    fileprivate func addObserver(_ observer: MonitorObserver) -> Bool {
        lock.withLock {
            if isEnded { return false }
            observers.append(observer)
            return true
        }
    }

    fileprivate func removeObserver(_ observer: MonitorObserver) {
        lock.withLock { observers.removeAll { $0 === observer } }
    }
}

/// A monitor's place on its engine.
private final class MonitorSubscription: Subscription, @unchecked Sendable {
    private let core: MonitorCore
    /// The status that the monitor took last.
    private let told = Atomic<Int32>(ReachabilityStatus.unknown.rawValue)
    // Owned by the thread that drives the engine.
    private var prepared = ReachabilityStatus.unknown

    init(_ core: MonitorCore, _ target: ReachabilityTarget, _ engine: ReachabilityQueue) {
        self.core = core
        super.init(target, queue: engine, owesCallback: false)
    }

    /// Before the look-up, nothing is known of a name.
    override func wantsCallout() -> Bool {
        current.reason != .notResolved && current.flags.status.rawValue != told.load(ordering: .acquiring)
    }

    override func prepareCallout(asData: Bool) -> Bool {
        guard wantsCallout() else { return false }
        prepared = current.flags.status
        return true
    }

    override func makeCallout() -> (ReachabilityTarget, ReachabilityFlags)? {
        if core.take(prepared, from: self) { told.store(prepared.rawValue, ordering: .releasing) }
        return nil
    }
}

/// A change of a monitor's status.
private struct MonitorNews {
    let core: MonitorCore
    /// Whose answer it is: it counts no more once the host was changed.
    let source: MonitorSubscription
    let status: ReachabilityStatus
    let previous: ReachabilityStatus
    let host: [UInt8]
}

/// Somebody who wants to hear of changes, on a queue.
final class MonitorObserver: ClientRegistry.Entry, @unchecked Sendable {
    typealias Callback = (MonitorCore, ReachabilityStatus, ReachabilityStatus, [UInt8]) -> Void

    /// Nil for all monitors.
    private let core: MonitorCore?
    private let lock = Lock()
    // Under the lock: nil once it is removed. News that wait on a queue nobody drives any more must not keep it alive.
    private var queue: ReachabilityQueue?
    private var callback: Callback?

    init(_ core: MonitorCore?, _ queue: ReachabilityQueue, _ callback: @escaping Callback) {
        self.core = core
        self.queue = queue
        self.callback = callback
        super.init(.observer)
    }

    /// Adds an observer of one monitor, or of all. Returns its number.
    static func add(
        to core: MonitorCore?, on queue: ReachabilityQueue, _ callback: @escaping Callback
    ) throws(Errno) -> UInt64 {
        try queue.checkProcess()
        try core?.checkProcess()
        let observer = MonitorObserver(core, queue, callback)
        ClientRegistry.current.register(observer)
        if let core {
            guard core.addObserver(observer) else {
                _ = ClientRegistry.current.remove(observer.id, .observer)
                throw .invalidArgument
            }
        } else {
            ClientRegistry.current.addUniversal(observer)
        }
        return observer.id
    }

    override func cancel() -> Bool {
        if let core { core.removeObserver(self) } else { ClientRegistry.current.removeUniversal(self) }
        deactivate()
        return true
    }

    fileprivate func deactivate() {
        let old = lock.withLock {
            let old = (callback, queue)
            callback = nil
            queue = nil
            return old
        }
        withExtendedLifetime(old) {}
    }

    fileprivate func tell(_ news: MonitorNews) {
        lock.withLock { queue }?.reactor.post(ObserverPost(self, news))
    }

    fileprivate var activeCallback: Callback? { lock.withLock { callback } }
}

/// News on their way to an observer.
private final class ObserverPost: Post, @unchecked Sendable {
    private let observer: MonitorObserver
    private let news: MonitorNews

    init(_ observer: MonitorObserver, _ news: MonitorNews) {
        self.observer = observer
        self.news = news
    }

    override func call() -> Bool {
        guard news.core.isCurrent(news.source), let callback = observer.activeCallback else { return false }
        callback(news.core, news.status, news.previous, news.host)
        return true
    }
}

extension MonitorCore {
    /// Adds an observer of one monitor, or of all. It hears of every change after this call.
    package static func addObserver(
        to core: MonitorCore?, on queue: ReachabilityQueue,
        _ callback: @escaping (MonitorCore, ReachabilityStatus, ReachabilityStatus, [UInt8]) -> Void
    ) throws(Errno) -> UInt64 {
        try MonitorObserver.add(to: core, on: queue, callback)
    }

    /// Removes an observer.
    package static func removeObserver(_ id: UInt64) throws(Errno) {
        guard let entry = ClientRegistry.current.remove(id, .observer), entry.cancel() else { throw .noEntry }
    }
}
