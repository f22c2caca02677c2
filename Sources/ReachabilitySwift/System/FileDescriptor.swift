// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// A descriptor that is closed when its owner goes.
package struct FileDescriptor: ~Copyable {
    package private(set) var rawValue: Int32

    /// Which file it stands for, when it was asked to remember.
    private var device: UInt64 = 0
    private var inode: UInt64 = 0

    /// Takes ownership of what a system call returned, or throws that call's error.
    init(owning result: Int32) throws(Errno) {
        guard result >= 0 else { throw Errno.last }
        rawValue = result
    }

    /// Forgets the descriptor without closing it, for a number that is no longer ours.
    mutating func abandon() {
        rawValue = -1
    }

    /// Remembers which file the number stands for.
    mutating func remember() {
        _ = clinux_identity(rawValue, &device, &inode)
    }

    /// Forgets the number when it stands for another file than the one that was remembered.
    mutating func abandonIfReplaced() {
        var device: UInt64 = 0
        var inode: UInt64 = 0
        if clinux_identity(rawValue, &device, &inode) != 0 || device != self.device || inode != self.inode { abandon() }
    }

    deinit {
        if rawValue >= 0 { _ = close(rawValue) }
    }
}

/// A descriptor that can be kept in an optional.
final class SharedDescriptor {
    let fd: FileDescriptor

    init(_ fd: consuming FileDescriptor) {
        self.fd = fd
    }
}
