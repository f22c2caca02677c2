// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// An error number of the kernel or of libc, thrown as it is.
///
/// Mirrors errno(3).
public struct Errno: Error, Equatable, Sendable {
    /// The number, as in <errno.h>.
    public let rawValue: Int32

    /// An error with this number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The calling thread's errno, right after a call that failed.
    static var last: Errno { Errno(rawValue: clinux_errno()) }

    /// An argument is not acceptable.
    public static var invalidArgument: Errno { Errno(rawValue: EINVAL) }
    /// An address family other than IPv4 and IPv6.
    public static var addressFamilyNotSupported: Errno { Errno(rawValue: EAFNOSUPPORT) }
    /// It is scheduled already, or another thread drives the queue.
    public static var busy: Errno { Errno(rawValue: EBUSY) }
    /// There is no such thing.
    public static var noEntry: Errno { Errno(rawValue: ENOENT) }
    /// The call would wait for itself.
    public static var wouldDeadlock: Errno { Errno(rawValue: EDEADLK) }
    /// The object belongs to the parent of this forked process.
    public static var stale: Errno { Errno(rawValue: ESTALE) }
    /// The time is over.
    public static var timedOut: Errno { Errno(rawValue: ETIMEDOUT) }
    /// A signal came first.
    public static var interrupted: Errno { Errno(rawValue: EINTR) }

    static var again: Errno { Errno(rawValue: EAGAIN) }
    static var noBuffers: Errno { Errno(rawValue: ENOBUFS) }
    static var badMessage: Errno { Errno(rawValue: EBADMSG) }
    static var badDescriptor: Errno { Errno(rawValue: EBADF) }
    static var notSocket: Errno { Errno(rawValue: ENOTSOCK) }
}
