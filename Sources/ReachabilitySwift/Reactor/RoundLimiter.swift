// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// Keeps evaluation rounds to a hundred a second in the long run, with a few at once when there were none for a while.
///
/// So the first event of a burst is acted on at once, a handful of changes in a row is too, and a storm costs no more
/// than its share. (The generic cell rate algorithm: one number, the time at which the next round would come if they
/// were evenly spaced.)
struct RoundLimiter {
    private static let interval: UInt64 = 10_000_000
    private static let tolerance: UInt64 = 12 * interval

    private var evenlySpaced: UInt64 = 0

    /// When the next round may be.
    var next: Deadline {
        Deadline(nanoseconds: evenlySpaced > RoundLimiter.tolerance ? evenlySpaced - RoundLimiter.tolerance : 0)
    }

    func allows(_ now: UInt64) -> Bool { next.nanoseconds <= now }

    mutating func take(_ now: UInt64) {
        evenlySpaced = max(evenlySpaced, now) + RoundLimiter.interval
    }
}
