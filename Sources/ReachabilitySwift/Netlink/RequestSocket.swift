// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Asks the kernel through rtnetlink, many questions in one system call, and reads the answers in another.
///
/// The kernel has answered when the send returns, so nothing here ever waits for a reply.
///
/// Not thread-safe: the owner's lock guards it.
package final class RequestSocket {
    /// Questions in one datagram. The replies must fit into the socket's receive buffer, which holds some two hundred.
    package static let batchLimit = Int(CLINUX_SLOTS)
    /// A link with many alternative names or virtual functions can have a reply longer than this: then slots grow.
    private static let smallestSlot = 4096
    private static let largestSlot = 65536

    private var fd: FileDescriptor
    private var sequence: UInt32 = 1
    private var slotSize = RequestSocket.smallestSlot
    private var replies: UnsafeMutableRawBufferPointer
    private let requests: UnsafeMutableRawBufferPointer
    private let lengths: UnsafeMutableBufferPointer<UInt32>
    private let ports: UnsafeMutableBufferPointer<UInt32>

    /// Opens the socket in the network namespace of the calling thread.
    static func open() throws(Errno) -> RequestSocket {
        var fd = try FileDescriptor(owning: clinux_socket_netlink())
        if clinux_bind_netlink(fd.rawValue, 0) != 0 { throw Errno.last }
        fd.remember()
        return RequestSocket(fd)
    }

    private init(_ fd: consuming FileDescriptor) {
        self.fd = fd
        requests = Memory.buffer(RequestSocket.batchLimit * RequestWriter.longest)
        replies = Memory.buffer(RequestSocket.batchLimit * slotSize)
        lengths = Memory.array(of: UInt32.self, count: RequestSocket.batchLimit)
        ports = Memory.array(of: UInt32.self, count: RequestSocket.batchLimit)
    }

    deinit {
        Memory.release(requests)
        Memory.release(replies)
        Memory.release(lengths)
        Memory.release(ports)
    }

    /// Leaves the descriptor's number alone, which somebody else has closed and may have got again.
    func abandon() {
        fd.abandon()
    }

    /// Leaves the descriptor's number alone if somebody else has it now.
    func abandonIfReplaced() {
        fd.abandonIfReplaced()
    }

    func withDescriptor<Result>(_ body: (borrowing FileDescriptor) -> Result) -> Result {
        body(fd)
    }

    /// Sends one batch and hands out each reply with the place of its question.
    ///
    /// - Parameters:
    ///   - count: questions, at most batchLimit.
    ///   - write: writes the question at a place, with the sequence number given.
    ///   - read: takes the reply to the question at a place.
    func exchange(
        count: Int, write: (inout RequestWriter, Int, UInt32) -> Void, read: (Int, Message) -> Void
    ) throws(Errno) {
        guard count > 0 else { return }
        while try !attempt(count: count, write: write, read: read) {
            let grown = slotSize * 4
            guard grown <= RequestSocket.largestSlot else { throw Errno.badMessage }
            Memory.release(replies)
            replies = Memory.buffer(RequestSocket.batchLimit * grown)
            slotSize = grown
        }
    }

    /// Has everything of a kind listed, of one family or with AF_UNSPEC of all. The kernel writes the next part when
    /// one was read, so nothing here waits either.
    func list(_ type: Int, family: Int32, read: (Message) -> Void) throws(Errno) {
        let first = sequence
        sequence = sequence &+ 1
        var writer = RequestWriter(requests)
        writer.list(type, family: family, sequence: first)
        try Syscalls.send(fd, writer.bytes)
        while true {
            let slot = UnsafeMutableRawBufferPointer(rebasing: replies[..<slotSize])
            guard let (length, port) = try Syscalls.receive(fd, into: slot) else { throw Errno.noBuffers }
            guard port == 0 else { continue }
            if length > slotSize { throw Errno.badMessage }
            var rest: BoundedBytes? = BoundedBytes(UnsafeRawBufferPointer(rebasing: slot[..<length]))
            while let bytes = rest, let message = Message(bytes), let size = bytes.count(at: 0) {
                rest = bytes.window(from: (size + 3) & ~3)
                guard message.sequence == first else { continue }
                // A kernel that does not know the kind has none of it.
                if let error = RouteRecords.error(message), error.rawValue != EOPNOTSUPP { throw error }
                if Int32(message.type) == NLMSG_DONE || Int32(message.type) == NLMSG_ERROR { return }
                read(message)
            }
        }
    }

    /// False when a reply did not fit into its slot.
    private func attempt(
        count: Int, write: (inout RequestWriter, Int, UInt32) -> Void, read: (Int, Message) -> Void
    ) throws(Errno) -> Bool {
        let first = sequence
        sequence = sequence &+ UInt32(count)
        var writer = RequestWriter(requests)
        for place in 0..<count { write(&writer, place, first &+ UInt32(place)) }
        try Syscalls.send(fd, writer.bytes)

        var answered = 0
        var fits = true
        while answered < count {
            let received = try receive(count - answered)
            // The kernel could not deliver every reply; what is missing is not known.
            if received == 0 { throw Errno.noBuffers }
            for slot in 0..<received where ports[slot] == 0 {
                let length = Int(lengths[slot])
                let start = slot * slotSize
                let bytes = UnsafeRawBufferPointer(rebasing: replies[start..<start + min(length, slotSize)])
                guard let message = Message(BoundedBytes(bytes), isCut: length > slotSize) else { continue }
                // Left over from an exchange that failed half way.
                let place = message.sequence &- first
                guard place < UInt32(count) else { continue }
                answered += 1
                if length > slotSize { fits = false } else if fits { read(Int(place), message) }
            }
        }
        return fits
    }

    /// Reads some replies into the slots. One or two are cheaper to read one by one.
    private func receive(_ wanted: Int) throws(Errno) -> Int {
        if wanted <= 2 {
            let slot = UnsafeMutableRawBufferPointer(rebasing: replies[..<slotSize])
            guard let (length, port) = try Syscalls.receive(fd, into: slot) else { return 0 }
            lengths[0] = UInt32(truncatingIfNeeded: length)
            ports[0] = port
            return 1
        }
        return try Syscalls.receiveMany(
            fd, into: replies, slotSize: slotSize,
            lengths: UnsafeMutableBufferPointer(rebasing: lengths[..<min(wanted, lengths.count)]), ports: ports)
    }
}
