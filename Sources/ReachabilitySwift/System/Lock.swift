// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// A mutual exclusion lock that cannot be taken twice by one thread, and its condition.
///
/// Never held during a callout, and never while the last reference to an object of a caller is dropped: code that
/// removes something under the lock returns it from the closure and lets go of it outside.
package final class Lock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        let memory = Memory.buffer(
            MemoryLayout<pthread_mutex_t>.stride + MemoryLayout<pthread_cond_t>.stride)
        guard let start = memory.baseAddress else { fatalError("out of memory") }
        mutex = start.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        condition = start.advanced(by: MemoryLayout<pthread_mutex_t>.stride)
            .bindMemory(to: pthread_cond_t.self, capacity: 1)
        pthread_mutex_init(mutex, nil)
        _ = clinux_condition_init(condition)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        free(mutex)
    }

    package func lock() {
        pthread_mutex_lock(mutex)
    }

    /// Takes the lock unless somebody has it.
    func tryLock() -> Bool {
        pthread_mutex_trylock(mutex) == 0
    }

    package func unlock() {
        pthread_mutex_unlock(mutex)
    }

    package func withLock<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }

    /// Gives the lock up, waits for a broadcast, and takes it again. May return early.
    func wait() {
        pthread_cond_wait(condition, mutex)
    }

    func broadcast() {
        pthread_cond_broadcast(condition)
    }
}
