// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Synchronization

/// One question that gets one answer worth acting on: online as soon as it is so, or offline at the deadline.
///
/// The cure for "no at first, yes a second later".
package final class Confirmation: Subscription, @unchecked Sendable {
    /// Called once, without any lock, on the thread that drives the queue, with the flags and whether they mean online.
    /// With an error when the kernel could not be asked at the deadline, which is no answer of the kernel's.
    package typealias Answer = (ReachabilityTarget, Bool, ReachabilityFlags, Errno?) -> Void

    /// Set before it is put on the queue.
    private var end = Deadline.never
    // Under the reactor's lock.
    private var isDeadlineOver = false
    /// At the deadline, the kernel could not be asked.
    private var failure: Errno?
    private var reactor: Reactor?
    /// Whether there is an answer already, when it has no callback to give it to.
    private(set) var settled: (online: Bool, flags: ReachabilityFlags)?
    private var answer: Answer?
    private var prepared: Answer?
    /// The caller's number for it, 0 when there is none. Set before it is put on the queue.
    private var number: UInt64 = 0

    /// What the caller's number leads to.
    private final class Entry: ClientRegistry.Entry, @unchecked Sendable {
        let confirmation: Confirmation

        init(_ confirmation: Confirmation) {
            self.confirmation = confirmation
            super.init(.confirmation)
        }

        override func cancel() -> Bool {
            confirmation.cancel()
        }
    }

    /// Only an answer after the look-up counts for a name.
    private var isOnline: Bool { current.flags.isOnline && current.reason != .notResolved }

    override func begin(_ reactor: Reactor) {
        self.reactor = reactor
        isDeadlineOver = end.nanoseconds <= reactor.clock.monotonic()
        if !isDeadlineOver { reactor.timers.set(self, to: end) }
    }

    /// What is true at the deadline counts, not what a busy time had no round for.
    package override func timeHasCome() {
        guard let reactor else { return }
        failure = reactor.judgeNow(self)
        isDeadlineOver = true
        reactor.enqueueIfWanted(self)
    }

    override func wantsCallout() -> Bool {
        settled == nil && (isOnline || isDeadlineOver)
    }

    override func prepareCallout(asData: Bool) -> Bool {
        guard wantsCallout() else { return false }
        // Time may have passed since it was put in line, in the callouts before it.
        if !isDeadlineOver, let reactor, reactor.judgeNow(self) != nil || !wantsCallout() { return false }
        // What could not be asked at the deadline is offline, whatever was known before.
        let isKnown = failure == nil && (isOnline || current.reason != .notResolved)
        settled = (failure == nil && isOnline, isKnown ? current.flags : [])
        prepared = answer
        answer = nil
        return true
    }

    override func makeCallout() -> (ReachabilityTarget, ReachabilityFlags)? {
        if number != 0 { _ = ClientRegistry.current.remove(number, .confirmation) }
        let answer = prepared
        prepared = nil
        // Off the queue before the answer is given: it may release the last reference to the queue.
        finish()
        if let settled { answer?(target, settled.online, settled.flags, failure) }
        return nil
    }

    private func finish() {
        reactor?.remove(self)
    }

    /// False when the answer is being given already.
    private func cancel() -> Bool {
        guard let reactor else { return false }
        let (isInTime, unused) = reactor.lock.withLock {
            if settled != nil { return (false, nil as Answer?) }
            settled = (false, [])
            let unused = answer
            answer = nil
            return (true, unused)
        }
        if isInTime { finish() }
        withExtendedLifetime(unused) {}
        return isInTime
    }

    /// Begins a confirmation with a callback. Returns its number.
    static func start(
        _ target: ReachabilityTarget, milliseconds: Int32, on queue: ReachabilityQueue, answer: @escaping Answer
    ) throws(Errno) -> UInt64 {
        try queue.checkProcess()
        let confirmation = Confirmation(target, queue: queue, owesCallback: false)
        confirmation.end = Deadline(after: milliseconds, on: queue.reactor.clock)
        confirmation.answer = answer
        let entry = Entry(confirmation)
        ClientRegistry.current.register(entry)
        let id = entry.id
        confirmation.number = id
        do throws(Errno) {
            try queue.reactor.add(confirmation)
        } catch {
            _ = ClientRegistry.current.remove(id, .confirmation)
            throw error
        }
        return id
    }

    /// Waits on the calling thread, on a reactor of its own.
    static func wait(
        _ target: ReachabilityTarget, milliseconds: Int32
    ) throws(Errno) -> (online: Bool, flags: ReachabilityFlags) {
        if target.destination.hostToResolve == nil {
            let flags = try target.flags()
            if flags.isOnline || milliseconds == 0 { return (flags.isOnline, flags) }
        }
        let reactor = try Reactor.make(hasThread: false, clock: .system)
        let confirmation = Confirmation(target, queue: nil, owesCallback: false)
        confirmation.end = Deadline(after: milliseconds, on: reactor.clock)
        try reactor.add(confirmation)
        defer { reactor.remove(confirmation) }
        while true {
            do throws(Errno) {
                _ = try reactor.run(until: .never)
            } catch {
                guard error == .interrupted else { throw error }
            }
            guard let settled = confirmation.settled else { continue }
            if let failure = confirmation.failure { throw failure }
            return settled
        }
    }
}

extension ReachabilityTarget {
    /// Asks for one confirmed answer: online as soon as that is so, or offline when the time is over.
    ///
    /// - Parameters:
    ///   - milliseconds: 0 answers with what is true now, -1 waits for ever.
    ///   - queue: where the answer is given, never from inside this call.
    ///   - answer: called exactly once, unless cancelled.
    /// - Returns: a number for cancelConfirmation.
    package func confirm(
        timeout milliseconds: Int32, on queue: ReachabilityQueue, answer: @escaping Confirmation.Answer
    ) throws(Errno) -> UInt64 {
        if milliseconds < -1 { throw .invalidArgument }
        return try Confirmation.start(self, milliseconds: milliseconds, on: queue, answer: answer)
    }

    /// Cancels a confirmation that is under way.
    package static func cancelConfirmation(_ id: UInt64) throws(Errno) {
        guard let entry = ClientRegistry.current.remove(id, .confirmation), entry.cancel() else { throw .noEntry }
    }

    /// Waits until the target is online or the time is over.
    ///
    /// - Parameter milliseconds: 0 does not wait, -1 waits for ever.
    /// - Returns: whether it is online, and the flags behind that.
    package func wait(timeout milliseconds: Int32) throws(Errno) -> (online: Bool, flags: ReachabilityFlags) {
        if milliseconds < -1 { throw .invalidArgument }
        return try Confirmation.wait(self, milliseconds: milliseconds)
    }
}
