// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// A descriptor that is closed when its owner goes.
package struct FileDescriptor: ~Copyable {
    package private(set) var rawValue: Int32

    /// Takes ownership of what a system call returned, or throws that call's error.
    init(owning result: Int32) throws(Errno) {
        guard result >= 0 else { throw Errno.last }
        rawValue = result
    }

    /// Forgets the descriptor without closing it, for a number that is no longer ours.
    mutating func abandon() {
        rawValue = -1
    }

    deinit {
        if rawValue >= 0 { _ = close(rawValue) }
    }
}

/// A descriptor that can be kept in an optional.
final class SharedDescriptor {
    let fd: FileDescriptor

    init(owning result: Int32) throws(Errno) {
        fd = try FileDescriptor(owning: result)
    }
}
