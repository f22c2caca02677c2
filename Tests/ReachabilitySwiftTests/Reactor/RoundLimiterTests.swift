// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("RoundLimiter")
struct RoundLimiterTests {
    private static let second: UInt64 = 1_000_000_000

    /// How many rounds there are from a moment on in so many seconds when there is always something to do.
    private func rounds(_ limiter: inout RoundLimiter, from start: UInt64, seconds: UInt64) -> Int {
        var now = start
        var rounds = 0
        while now < start + seconds * RoundLimiterTests.second {
            now = max(now, limiter.next.nanoseconds)
            #expect(limiter.allows(now))
            limiter.take(now)
            rounds += 1
        }
        return rounds
    }

    @Test("the first event is acted on at once, and so are a few more")
    func burst() {
        var limiter = RoundLimiter()
        let now = 5 * RoundLimiterTests.second
        var atOnce = 0
        while limiter.allows(now) {
            limiter.take(now)
            atOnce += 1
        }
        #expect(atOnce >= 11, "a handful of changes in a row is no storm")
        #expect(atOnce <= 20)
        #expect(limiter.next.nanoseconds > now)
    }

    @Test("a storm of any length gets a hundred a second")
    func storm() {
        var limiter = RoundLimiter()
        _ = rounds(&limiter, from: 5 * RoundLimiterTests.second, seconds: 1)
        let inTen = rounds(&limiter, from: limiter.next.nanoseconds, seconds: 10)
        #expect((950...1050).contains(inTen))
    }

    @Test("what was saved up by being idle is limited, and comes back")
    func idle() {
        var limiter = RoundLimiter()
        let start = 5 * RoundLimiterTests.second
        _ = rounds(&limiter, from: start, seconds: 1)
        let later = start + 1000 * RoundLimiterTests.second
        #expect(rounds(&limiter, from: later, seconds: 1) <= 125)
    }

    @Test("never waits longer than a little after the last round")
    func next() {
        var random = SeededGenerator(seed: 3)
        var limiter = RoundLimiter()
        var now: UInt64 = 1
        for _ in 0..<10_000 {
            now += UInt64.random(in: 0...40_000_000, using: &random)
            if limiter.allows(now) { limiter.take(now) }
            #expect(limiter.next.nanoseconds <= now + 10_000_000)
        }
    }
}
