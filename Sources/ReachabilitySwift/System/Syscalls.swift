// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// The system calls, with EINTR handled where a call is to be repeated and errors thrown.
///
/// Never inlined, so that each stands once in the library and can be found in a profile.
enum Syscalls {
    @inline(never)
    static func send(_ fd: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer) throws(Errno) {
        while true {
            let count = CLinux.send(fd.rawValue, bytes.baseAddress, bytes.count, 0)
            if count >= 0 { return }
            let error = Errno.last
            if error != .interrupted { throw error }
        }
    }

    /// One datagram without waiting: its true length, which exceeds the buffer's when it was cut, and the sender's
    /// port. Nil when there is none.
    @inline(never)
    static func receive(
        _ fd: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> (length: Int, port: UInt32)? {
        var port: UInt32 = 0
        while true {
            let count = clinux_receive_netlink(fd.rawValue, buffer.baseAddress, buffer.count, &port)
            if count >= 0 { return (count, port) }
            let error = Errno.last
            if error == .again { return nil }
            if error != .interrupted { throw error }
        }
    }

    /// Up to as many datagrams as there are slots, without waiting. Returns how many.
    @inline(never)
    static func receiveMany(
        _ fd: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, slotSize: Int,
        lengths: UnsafeMutableBufferPointer<UInt32>, ports: UnsafeMutableBufferPointer<UInt32>
    ) throws(Errno) -> Int {
        while true {
            let count = clinux_receive_netlink_many(
                fd.rawValue, buffer.baseAddress, slotSize, Int32(truncatingIfNeeded: lengths.count),
                lengths.baseAddress, ports.baseAddress)
            if count >= 0 { return Int(count) }
            let error = Errno.last
            if error == .again { return 0 }
            if error != .interrupted { throw error }
        }
    }

    @inline(never)
    static func setOption(
        _ fd: borrowing FileDescriptor, level: Int32, option: Int32, value: Int32
    ) throws(Errno) {
        var value = value
        let result = setsockopt(fd.rawValue, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        if result != 0 { throw Errno.last }
    }

    /// The beginning of a file.
    ///
    /// - Returns: nil when there is no such file, or it may not be read.
    /// - Throws: when there was no descriptor or memory for it.
    @inline(never)
    static func readFully(_ path: [UInt8], limit: Int) throws(Errno) -> [UInt8]? {
        var path = path
        path.append(0)
        let opened = path.withUnsafeBytes { bytes in
            bytes.baseAddress.map { clinux_open_read_only($0.assumingMemoryBound(to: CChar.self)) } ?? -1
        }
        if opened < 0 {
            let error = Errno.last
            switch error.rawValue {
            case EMFILE, ENFILE, ENOMEM, EINTR: throw error
            default: return nil
            }
        }
        let fd = try FileDescriptor(owning: opened)
        var content = [UInt8](repeating: 0, count: limit)
        var filled = 0
        while filled < limit {
            let count = content.withUnsafeMutableBytes { bytes in
                CLinux.read(fd.rawValue, bytes.baseAddress?.advanced(by: filled), limit - filled)
            }
            if count < 0 {
                if Errno.last == .interrupted { continue }
                return nil
            }
            if count == 0 { break }
            filled += count
        }
        content.removeLast(limit - filled)
        return content
    }

    /// Empties an eventfd or timerfd.
    @inline(never)
    static func consume(_ fd: borrowing FileDescriptor) {
        var count: UInt64 = 0
        _ = CLinux.read(fd.rawValue, &count, MemoryLayout<UInt64>.size)
    }

    /// Makes an eventfd readable.
    @inline(never)
    static func signal(_ fd: borrowing FileDescriptor) {
        var one: UInt64 = 1
        _ = CLinux.write(fd.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    @inline(never)
    static func epollControl(
        _ epoll: borrowing FileDescriptor, _ operation: Int32, _ fd: borrowing FileDescriptor, events: UInt32,
        token: UInt32
    ) throws(Errno) {
        if clinux_epoll_control(epoll.rawValue, operation, fd.rawValue, events, token) != 0 { throw Errno.last }
    }
}
