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
    var resolution = Resolution.none

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
        let flags = try Asker.current.flags(of: self)
        noteAsked()
        return flags
    }

    /// The answer now, with its path and reason.
    package func verdict() throws(Errno) -> (Verdict, generation: UInt64) {
        let answer = try Asker.current.verdict(of: self)
        noteAsked()
        return answer
    }

    /// Somebody who asked a scheduled name has had its first answer.
    private func noteAsked() {
        guard destination.isName else { return }
        let schedule = ProcessMark.current.schedules.withLock { self.schedule }
        if let schedule, schedule.isOfThisProcess,
            schedule.owesCallback.exchange(false, ordering: .acquiringAndReleasing)
        {
            schedule.debtWasPaid()
        }
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
}
