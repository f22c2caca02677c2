// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Synchronization

/// Something that can be asked about: the internet at large, an address, a pair of addresses, or a host.
///
/// Safe to use from any thread. While it is scheduled on a queue, the queue keeps it alive.
///
/// Mirrors SCNetworkReachability.
public final class ReachabilityTarget: @unchecked Sendable {
    package let destination: Destination

    // Owned by the Asker, under its lock.
    var asked = Verdict()
    var askedGeneration: UInt64 = 0
    /// The flags of that verdict, and whether it lasts until something is heard: all that most questions need.
    var askedFlags = ReachabilityFlags()
    var askedLasts = false
    /// The addresses that the name is known to have, who says so, 0 for nobody, and in which process.
    var resolution = Resolution.none
    var resolver: UInt = 0
    var resolutionMark: UInt64 = 0

    // Owned by the schedule, under ProcessMark.schedules.
    var callback: Callback?
    var schedule: AnySchedule?

    /// What is called on a change.
    package typealias Callback = (ReachabilityTarget, ReachabilityFlags) -> Void

    package init(_ destination: Destination) {
        self.destination = destination
    }

    /// The answer now: one system call when nothing changed. Never waits for the network, never looks a name up.
    ///
    /// - Throws: the error of the system call by which the kernel could not be asked.
    ///
    /// Mirrors SCNetworkReachabilityGetFlags.
    public func flags() throws(Errno) -> ReachabilityFlags {
        let (flags, isNew) = try Asker.current.flags(of: self)
        if isNew || destination.isName { noteAsked(isNew) }
        return flags
    }

    /// The answer now, with its path and reason.
    package func verdict() throws(Errno) -> (Verdict, generation: UInt64) {
        let (verdict, generation, isNew) = try Asker.current.verdict(of: self)
        if isNew || destination.isName { noteAsked(isNew) }
        return (verdict, generation)
    }

    /// Whoever asks a scheduled target knows the answer, which counts as the first one of a name, and has to hear of it
    /// when a new answer does not last until the queue looks.
    private func noteAsked(_ isNew: Bool) {
        let schedule = ProcessMark.current.schedules.withLock { self.schedule }
        guard let schedule, schedule.isOfThisProcess else { return }
        if destination.isName, schedule.owesCallback.exchange(false, ordering: .acquiringAndReleasing) {
            schedule.debtWasPaid()
        }
        if isNew { schedule.wasAsked() }
    }

    /// Sets, replaces or removes what is called on a change. Takes effect with the next delivery.
    package func replaceCallback(_ new: Callback?) {
        let (old, schedule) = ProcessMark.current.schedules.withLock {
            let old = callback
            callback = new
            return (old, self.schedule)
        }
        // What was due before there was anybody to call is due still.
        if new != nil, let schedule, schedule.isOfThisProcess, schedule.owesCallback.load(ordering: .acquiring) {
            schedule.renotify()
        }
        // Whatever the old one captured is let go here, outside the lock.
        withExtendedLifetime(old) {}
    }
}

/// A target's place on a queue. What it is, the layers above know.
package class AnySchedule: Timed, @unchecked Sendable {
    /// A callback is to come even without a change.
    package final let owesCallback: Atomic<Bool>

    package init(owesCallback: Bool) {
        self.owesCallback = Atomic(owesCallback)
    }

    /// Whether it was made by this process, not by the one it was forked from.
    package var isOfThisProcess: Bool { true }

    /// Takes the target off its queue.
    package func end() {}

    /// Puts it in line again for what is due.
    package func renotify() {}

    /// Nothing is owed any more, without a callback.
    package func debtWasPaid() {}

    /// A caller was given an answer that may be another one than the last callback's.
    package func wasAsked() {}
}
