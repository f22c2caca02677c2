// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// A confirmation that a task waits for. Answer, failure and cancellation race; the first one wins.
private final class PendingConfirmation: Sendable {
    typealias Waiter = CheckedContinuation<ReachabilityFlags, any Error>

    private struct State {
        var waiter: Waiter?
        /// The core's number for it, once it is known.
        var id: UInt64?
        var isCancelled = false
    }

    private let state = Locked(State())

    func start(_ target: ReachabilityTarget, _ timeout: Int32, _ waiter: Waiter) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.waiter = waiter }
            return state.isCancelled
        }
        if isCancelled {
            waiter.resume(throwing: CancellationError())
            return
        }
        do throws(Errno) {
            let queue = try ClientRegistry.current.monitorEngine()
            let id = try target.confirm(timeout: timeout, on: queue) { _, _, flags, failure in
                let waiter = self.takeWaiter()
                if let failure { waiter?.resume(throwing: failure) } else { waiter?.resume(returning: flags) }
            }
            // Cancelled before its number was known.
            let isLate = state.withLock { state in
                state.id = id
                return state.isCancelled
            }
            if isLate { try? ReachabilityTarget.cancelConfirmation(id) }
        } catch {
            takeWaiter()?.resume(throwing: error)
        }
    }

    func cancel() {
        let (waiter, id) = state.withLock { state in
            let left = (state.waiter, state.id)
            state.isCancelled = true
            state.waiter = nil
            return left
        }
        if let id { try? ReachabilityTarget.cancelConfirmation(id) }
        waiter?.resume(throwing: CancellationError())
    }

    private func takeWaiter() -> Waiter? {
        state.withLock { state in
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
    }
}

extension ReachabilityTarget {
    /// Asks for one answer worth acting on: online as soon as that is so, or offline when the time is over.
    ///
    ///     if try await target.confirm(timeout: .seconds(5)).isOnline { ... }
    ///
    /// It is the cure for "no at first, yes a second later", as after waking up or joining a network. For a host name,
    /// online means that it has been looked up and one of its addresses can be reached.
    ///
    /// - Parameter timeout: rounded up to milliseconds; zero answers with what is true now, nil waits for ever.
    /// - Returns: the flags behind the answer.
    /// - Throws: CancellationError when the task was cancelled first, or an Errno by which the kernel could not be
    ///   asked.
    ///
    /// Mirrors reach_confirm.
    public func confirm(timeout: Duration?) async throws -> ReachabilityFlags {
        let pending = PendingConfirmation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                pending.start(self, Timeout.milliseconds(timeout), waiter)
            }
        } onCancel: {
            pending.cancel()
        }
    }
}
