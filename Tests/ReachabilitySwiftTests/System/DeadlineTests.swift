// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("Deadline")
struct DeadlineTests {
    @Test("is rounded up for poll-like calls, so that they don't return before it")
    func pollTimeout() {
        let deadline = Deadline(nanoseconds: 10_000_000)
        #expect(deadline.pollTimeout(now: 10_000_000) == 0)
        #expect(deadline.pollTimeout(now: 11_000_000) == 0)
        #expect(deadline.pollTimeout(now: 9_999_999) == 1)
        #expect(deadline.pollTimeout(now: 8_000_001) == 2)
        #expect(deadline.pollTimeout(now: 0) >= 10)
    }

    @Test("never is -1, and what is too far for an int is as far as that goes")
    func extremes() {
        #expect(Deadline.never.pollTimeout(now: 0) == -1)
        #expect(Deadline(nanoseconds: .max - 1).pollTimeout(now: 0) == .max)
        #expect(Deadline(after: -1, on: .system) == .never)
        #expect(Deadline(after: .max, on: .system) < .never)
        #expect(Deadline(after: .max, on: .system).nanoseconds > Clock.system.monotonic())
    }

    @Test("goes on from the clock it is given")
    func clock() {
        let clock = AdjustableClock()
        let before = clock.monotonic()
        let deadline = Deadline(after: 5, on: clock)
        #expect(deadline.nanoseconds >= before + 5_000_000)
        #expect(deadline.nanoseconds <= clock.monotonic() + 5_000_000)
    }
}
