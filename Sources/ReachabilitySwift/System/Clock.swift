// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Where the time comes from. A class, so that a test can put another one in its place.
///
/// Time is in nanoseconds. Deadlines are points on the monotonic clock; there is no wall-clock time in this library.
package class Clock: @unchecked Sendable {
    /// The machine's. Made once a process, with what else each process has: a constant of its own would be written to
    /// at every use by the small build.
    package static var system: Clock { ProcessMark.current.clock }

    package init() {}

    /// Stands still while the machine is suspended.
    package func monotonic() -> UInt64 { clinux_clock(CLOCK_MONOTONIC) }

    /// Goes on while the machine is suspended.
    package func boottime() -> UInt64 { clinux_clock(CLOCK_BOOTTIME) }
}

/// A point on the monotonic clock, or never.
package struct Deadline: Equatable, Comparable, Sendable {
    package let nanoseconds: UInt64

    package static let never = Deadline(nanoseconds: .max)
    static let distantPast = Deadline(nanoseconds: 0)

    init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// The point that lies so many milliseconds after now; never for a negative number.
    package init(after milliseconds: Int32, on clock: Clock) {
        guard milliseconds >= 0 else {
            self = .never
            return
        }
        self = Deadline(nanoseconds: clock.monotonic()).advanced(byMilliseconds: UInt64(milliseconds))
    }

    func advanced(byMilliseconds milliseconds: UInt64) -> Deadline {
        Deadline(nanoseconds: nanoseconds &+ milliseconds &* 1_000_000)
    }

    /// What poll-like calls take: rounded up, so that they don't return just before the deadline; -1 for never.
    func pollTimeout(now: UInt64) -> Int32 {
        if self == .never { return -1 }
        if nanoseconds <= now { return 0 }
        let milliseconds = (nanoseconds - now) / 1_000_000 + 1
        return milliseconds > UInt64(Int32.max) ? Int32.max : Int32(truncatingIfNeeded: milliseconds)
    }

    package static func < (left: Deadline, right: Deadline) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
