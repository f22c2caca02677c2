// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Synchronization

@testable import ReachabilitySwift

/// The machine's clock, but for a suspend that never was.
final class AdjustableClock: Clock, @unchecked Sendable {
    private let suspended = Atomic<UInt64>(0)

    /// As if the machine had been suspended for so long.
    func suspend(forNanoseconds nanoseconds: UInt64) {
        suspended.wrappingAdd(nanoseconds, ordering: .relaxed)
    }

    override func boottime() -> UInt64 { super.boottime() &+ suspended.load(ordering: .relaxed) }
}
