// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Hears from the kernel that something changed: links, addresses, routes, rules, nexthop objects, and settings such as
/// whether routes over dead links count; never neighbours.
///
/// A message is only a hint that an answer may have changed; the answer is always asked for again. So messages may be
/// lost (the kernel then says so), and nothing is ever kept from them.
///
/// Not thread-safe: the owner's lock guards it.
package final class EventSocket {
    /// Enough of a message to see which prefix or link it is about; the rest is cut off.
    private static let slotSize = 192
    private static let slots = 32
    /// How many batches one drain reads at most, so that a storm cannot keep it for ever. What is left counts as
    /// unknown.
    private static let drainLimit = 256

    private var fd: FileDescriptor
    /// The socket's state after the last drain.
    private var known = clinux_receive_memory()
    private let buffer: UnsafeMutableRawBufferPointer
    private let lengths: UnsafeMutableBufferPointer<UInt32>
    private let ports: UnsafeMutableBufferPointer<UInt32>

    /// Opens the socket in the network namespace of the calling thread.
    ///
    /// - Parameter receiveBuffer: bytes for undelivered messages; nil for the system's default. When only "did anything
    ///   change" is of interest, a small one makes the kernel throw away the messages of a storm early.
    package static func open(receiveBuffer: Int32?) throws(Errno) -> EventSocket {
        var fd = try FileDescriptor(owning: clinux_socket_netlink())
        if let receiveBuffer {
            try Syscalls.setOption(fd, level: SOL_SOCKET, option: SO_RCVBUF, value: receiveBuffer)
        }
        if clinux_bind_netlink(fd.rawValue, EventSocket.groups) != 0 { throw Errno.last }
        fd.remember()
        return EventSocket(fd)
    }

    private init(_ fd: consuming FileDescriptor) {
        self.fd = fd
        buffer = Memory.buffer(EventSocket.slotSize * EventSocket.slots)
        lengths = Memory.array(of: UInt32.self, count: EventSocket.slots)
        ports = Memory.array(of: UInt32.self, count: EventSocket.slots)
    }

    deinit {
        Memory.release(buffer)
        Memory.release(lengths)
        Memory.release(ports)
    }

    /// A bit for each group, the first one's lowest.
    private static var groups: UInt32 {
        var bits: UInt32 = 0
        for group in [
            RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
            RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF,
        ] {
            bits |= 1 << (group.rawValue - 1)
        }
        return bits
    }

    package var descriptor: Int32 { fd.rawValue }

    /// Leaves the descriptor's number alone, which somebody else has closed and may have got again.
    func abandon() {
        fd.abandon()
    }

    /// Leaves the descriptor's number alone if somebody else has it now.
    func abandonIfReplaced() {
        fd.abandonIfReplaced()
    }

    /// What was found at the last look.
    private var seen = clinux_receive_memory()

    /// Whether there is nothing to read, neither a message nor the news that some were lost. Costs less than a receive
    /// that finds nothing. False when in doubt.
    package func isQuiet() -> Bool {
        guard clinux_receive_memory(fd.rawValue, &seen) == 0 else { return false }
        // A number that somebody closed and that stands for another socket now has another size or other losses.
        return seen.waiting == 0 && seen.dropped == known.dropped && seen.size == known.size
    }

    func withDescriptor<Result, Failure: Error>(
        _ body: (borrowing FileDescriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(fd)
    }

    /// Reads everything that is there, without waiting.
    ///
    /// - Returns: false when there was nothing: then whatever was asked after the last drain that returned true is
    ///   still so.
    /// - Throws: only before anything was read. An error after that counts as lost messages.
    package func drain(_ visit: (NetworkEvent) -> Void) throws(Errno) -> Bool {
        // As it was before the socket is seen to be empty: what is lost after that is not what was known.
        known = seen
        // One message at a time first: many calls find none, most others one.
        guard try receiveOne(visit) else { return false }
        do throws(Errno) {
            if try receiveOne(visit) { try drainRest(visit) }
        } catch {
            visit(.overflow)
        }
        return true
    }

    private func drainRest(_ visit: (NetworkEvent) -> Void) throws(Errno) {
        for _ in 0..<EventSocket.drainLimit {
            do {
                let received = try Syscalls.receiveMany(
                    fd, into: buffer, slotSize: EventSocket.slotSize, lengths: lengths, ports: ports)
                if received == 0 { return }
                for slot in 0..<received {
                    deliver(start: slot * EventSocket.slotSize, length: Int(lengths[slot]), port: ports[slot], visit)
                }
            } catch {
                guard error == .noBuffers else { throw error }
                visit(.overflow)
            }
        }
        visit(.overflow)
    }

    private func receiveOne(_ visit: (NetworkEvent) -> Void) throws(Errno) -> Bool {
        do {
            let slot = UnsafeMutableRawBufferPointer(rebasing: buffer[..<EventSocket.slotSize])
            guard let (length, port) = try Syscalls.receive(fd, into: slot) else { return false }
            deliver(start: 0, length: length, port: port, visit)
        } catch {
            guard error == .noBuffers else { throw error }
            visit(.overflow)
        }
        return true
    }

    private func deliver(start: Int, length: Int, port: UInt32, _ visit: (NetworkEvent) -> Void) {
        // Only the kernel is believed.
        guard port == 0 else { return }
        let end = start + min(length, EventSocket.slotSize)
        visit(NetworkEvent(datagram: BoundedBytes(UnsafeRawBufferPointer(rebasing: buffer[start..<end]))))
    }
}
