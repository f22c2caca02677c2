// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Synchronization

/// Something on a queue that wants to hear when the answer for a target changes. What it does then, its subclasses say.
///
/// Everything here is owned by the queue's reactor, under its lock, but for what is said otherwise.
package class Subscription: AnySchedule, @unchecked Sendable {
    package final let target: ReachabilityTarget
    /// Keeps the queue alive while something is scheduled on it. Nil on a private reactor.
    package final let queue: ReachabilityQueue?

    /// Place among the reactor's subscriptions, -1 when it is not there.
    final var slot = -1
    /// The last answer.
    package final var current = Answer()
    /// The answer may be out of date.
    final var isDirty = false
    /// It stands in the reactor's list of those.
    final var isListed = false
    /// It is in line for a callout.
    final var isQueued = false
    package final var isCancelled = false
    final var lookup: NameLookup?

    package init(_ target: ReachabilityTarget, queue: ReachabilityQueue?, owesCallback: Bool) {
        self.target = target
        self.queue = queue
        super.init(owesCallback: owesCallback)
    }

    package override var isOfThisProcess: Bool { queue?.reactor.process.isCurrent ?? true }

    package override func end() {
        queue?.reactor.remove(self)
    }

    package override func renotify() {
        queue?.reactor.renotify(self)
    }

    package override func debtWasPaid() {
        queue?.reactor.rejudge(self)
    }

    /// The callback that a name is owed says what is known without a look-up, however fast that was: so that the order
    /// of callbacks does not depend on a race.
    final var resolution: Resolution {
        if sharesResolution, owesCallback.load(ordering: .acquiring) { return .none }
        return lookup?.resolution ?? .none
    }

    /// The target's own get_flags is to know the addresses that were found.
    var sharesResolution: Bool { false }

    /// Which of all that share with the target.
    private final var number: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

    /// From here on this one says what the target's addresses are.
    final func beginSharing(_ resolution: Resolution) {
        if sharesResolution { Asker.current.beginSharing(resolution, with: target, by: number) }
    }

    final func share(_ resolution: Resolution) {
        if sharesResolution { Asker.current.share(resolution, with: target, by: number) }
    }

    final func endSharing() {
        if sharesResolution { Asker.current.endSharing(with: target, by: number) }
    }

    /// After the first evaluation, and before the reactor's lock is given up.
    func begin(_ reactor: Reactor) {}

    /// After an evaluation: is there something to call about?
    func wantsCallout() -> Bool { false }

    /// When its turn has come, under the lock: whether there is still something to call about. Takes note of what will
    /// be said.
    func prepareCallout(asData: Bool) -> Bool { false }

    /// Makes the callout that was prepared, without any lock. Nil, or what is to be returned as data instead.
    func makeCallout() -> (ReachabilityTarget, ReachabilityFlags)? { nil }
}

/// A target that is scheduled on a queue.
final class TargetSubscription: Subscription, @unchecked Sendable {
    /// The answer that was given last, or that held when it was scheduled.
    private var reported = Answer()
    /// Another one that the caller has asked for since.
    private var seen: Answer?
    // Owned by the thread that drives the queue.
    private var prepared: ReachabilityTarget.Callback?
    private var preparedFlags = ReachabilityFlags()

    override var sharesResolution: Bool { true }

    override func begin(_ reactor: Reactor) {
        reported = current
    }

    override func wantsCallout() -> Bool {
        if owesCallback.load(ordering: .acquiring) || !current.isSame(as: reported) { return true }
        return seen.map { !current.isSame(as: $0) } ?? false
    }

    override func wasAsked() {
        guard let reactor = queue?.reactor else { return }
        reactor.lock.withLock {
            let answer = Asker.current.answer(for: target)
            seen = answer.isSame(as: reported) ? nil : answer
            if seen != nil, !answer.isSame(as: current) { reactor.judgeSoon(self) }
        }
    }

    override func prepareCallout(asData: Bool) -> Bool {
        guard wantsCallout() else { return false }
        reported = current
        seen = nil
        preparedFlags = current.flags
        // Assigned inside: a closure that a generic function returns is wrapped into another one, which is allocated.
        ProcessMark.current.schedules.withLock { prepared = target.callback }
        guard prepared != nil || asData else { return false }
        if owesCallback.exchange(false, ordering: .acquiringAndReleasing) { queue?.reactor.rejudgeUnderLock(self) }
        return true
    }

    override func makeCallout() -> (ReachabilityTarget, ReachabilityFlags)? {
        guard let callback = prepared else { return (target, preparedFlags) }
        prepared = nil
        callback(target, preparedFlags)
        return nil
    }
}

extension ReachabilityTarget {
    /// Schedules the target on a queue, or unschedules it.
    ///
    /// Mirrors SCNetworkReachabilitySetDispatchQueue.
    ///
    /// - Throws: busy when it is scheduled already, noEntry when it is unscheduled without being scheduled, stale for a
    ///   queue of this process's parent, or the error by which the kernel could not be asked.
    public func setQueue(_ queue: ReachabilityQueue?) throws(Errno) {
        if let queue {
            try schedule(on: queue)
        } else {
            try unschedule()
        }
    }

    private func schedule(on queue: ReachabilityQueue) throws(Errno) {
        try queue.checkProcess()
        let subscription = TargetSubscription(self, queue: queue, owesCallback: destination.isName)
        let schedules = ProcessMark.current.schedules
        let previous: AnySchedule? = try schedules.withLock { () throws(Errno) -> AnySchedule? in
            let previous = self.schedule
            // What the parent of a forked process scheduled is the parent's.
            if let previous, previous.isOfThisProcess { throw .busy }
            self.schedule = subscription
            return previous
        }
        withExtendedLifetime(previous) {}
        do throws(Errno) {
            try queue.reactor.add(subscription)
        } catch {
            schedules.withLock {
                if self.schedule === subscription { self.schedule = nil }
            }
            throw error
        }
    }

    private func unschedule() throws(Errno) {
        let previous = ProcessMark.current.schedules.withLock {
            let previous = self.schedule
            self.schedule = nil
            return previous
        }
        guard let previous, previous.isOfThisProcess else { throw .noEntry }
        previous.end()
    }
}
