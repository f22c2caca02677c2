// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// Something that is only touched under its own lock.
///
/// As the standard library's Mutex, but made of the core's lock, which the thread sanitizer understands on Linux.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
