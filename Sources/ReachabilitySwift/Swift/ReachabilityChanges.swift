// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// The changes of the answer for a target, from the moment the sequence was made.
///
/// An element is the flags that are true now. One comes when the flags changed, or the link that a packet would leave
/// by: then they can be the same as before. Several changes between two looks of the reader come as one, and a change
/// that was undone before it looked as none. For a host name a first one always comes.
///
/// The sequence is for one reader, and ends when the reader's task is cancelled. Its target is observed until then, or
/// until the sequence and its iterators are gone.
public struct ReachabilityChanges: AsyncSequence, Sendable {
    public typealias Element = ReachabilityFlags
    public typealias Failure = Never

    private let handle: FeedHandle<ObservedAnswer>

    init(of target: ReachabilityTarget) throws(Errno) {
        let queue = try ClientRegistry.current.monitorEngine()
        let feed = ChangeFeed(ObservedAnswer())
        let subscription = ChangeSubscription(target, queue, feed)
        try queue.reactor.add(subscription)
        feed.begin { subscription.end() }
        handle = FeedHandle(feed)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

    public struct Iterator: AsyncIteratorProtocol {
        let handle: FeedHandle<ObservedAnswer>

        public mutating func next() async -> ReachabilityFlags? {
            await handle.feed.next()
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReachabilityFlags? {
            await handle.feed.next()
        }
    }
}

/// The last answer for a target, and what its reader knows.
struct ObservedAnswer: ChangeSource {
    var current = Answer()
    var read = Answer()
    var owesChange = false

    mutating func take() -> ReachabilityFlags? {
        guard owesChange || !current.isSame(as: read) else { return nil }
        owesChange = false
        read = current
        return current.flags
    }
}

/// A target's place on the queue that all sequences share. It has nothing to do with where the target is scheduled.
private final class ChangeSubscription: Subscription, @unchecked Sendable {
    private let feed: ChangeFeed<ObservedAnswer>
    // Under the reactor's lock.
    private var told = Answer()
    // Owned by the thread that drives the queue.
    private var prepared = Answer()

    init(_ target: ReachabilityTarget, _ queue: ReachabilityQueue, _ feed: ChangeFeed<ObservedAnswer>) {
        self.feed = feed
        super.init(target, queue: queue, owesCallback: target.destination.isName)
    }

    override func begin(_ reactor: Reactor) {
        told = current
        let first = current
        feed.update { $0 = ObservedAnswer(current: first, read: first) }
    }

    override func wantsCallout() -> Bool {
        owesCallback.load(ordering: .acquiring) || !current.isSame(as: told)
    }

    override func prepareCallout(asData: Bool) -> Bool {
        guard wantsCallout() else { return false }
        told = current
        prepared = current
        return true
    }

    override func makeCallout() -> (ReachabilityTarget, ReachabilityFlags)? {
        let isOwed = owesCallback.exchange(false, ordering: .acquiringAndReleasing)
        let news = prepared
        feed.update { source in
            source.current = news
            if isOwed { source.owesChange = true }
        }
        return nil
    }
}

extension ReachabilityTarget {
    /// Begins to observe the target, scheduled or not, and gives its changes as a sequence.
    ///
    ///     let changes = try target.changes()
    ///     print(try target.flags())
    ///     for await flags in changes { print(flags) }
    ///
    /// Nothing is missed between this call and the first look.
    ///
    /// - Throws: the error by which the kernel could not be asked, or a thread could not be had.
    public func changes() throws(Errno) -> ReachabilityChanges {
        try ReachabilityChanges(of: self)
    }
}
