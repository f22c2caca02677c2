// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Writes rtnetlink requests, one after the other, into one buffer that is sent in one system call.
///
/// The kernel answers the messages of one datagram in their order, each before it looks at the next.
struct RequestWriter {
    /// The longest request there is: header, fixed part, two IPv6 addresses and a link.
    static let longest = 16 + 12 + 20 + 20 + 8

    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
    var hasRoom: Bool { buffer.count - count >= RequestWriter.longest }

    /// RTM_GETROUTE. With listHops, the kernel shows the matching entry of the table with all its next hops, instead of
    /// the way one packet would take.
    mutating func askRoute(_ question: RouteQuestion, listHops: Bool, sequence: UInt32) {
        let start = begin(type: UInt16(RTM_GETROUTE), sequence: sequence)
        let bits = UInt8(question.destination.family.bitWidth)
        let source = question.source?.family == question.destination.family ? question.source : nil
        append(question.destination.family.rawValue)
        append(bits)
        append(source == nil ? UInt8(0) : bits)
        append(UInt8(0))  // rtm_tos
        append(UInt32(0))  // table, protocol, scope, type
        append(listHops ? UInt32(RTM_F_FIB_MATCH) : UInt32(0))
        appendAddress(UInt16(RTA_DST.rawValue), question.destination)
        if let source { appendAddress(UInt16(RTA_SRC.rawValue), source) }
        if question.link != 0 {
            append(UInt16(8))
            append(UInt16(RTA_OIF.rawValue))
            append(question.link)
        }
        end(start)
    }

    /// RTM_GETLINK, without the counters, which are most of a reply.
    mutating func askLink(_ index: UInt32, sequence: UInt32) {
        let start = begin(type: UInt16(RTM_GETLINK), sequence: sequence)
        append(UInt32(0))  // family, padding, type
        append(index)
        append(UInt32(0))  // flags
        append(UInt32(0))  // change mask
        append(UInt16(8))
        append(UInt16(IFLA_EXT_MASK))
        append(UInt32(RTEXT_FILTER_SKIP_STATS))
        end(start)
    }

    private mutating func begin(type: UInt16, sequence: UInt32) -> Int {
        let start = count
        append(UInt32(0))  // length, known at the end
        append(type)
        append(UInt16(NLM_F_REQUEST))
        append(sequence)
        append(UInt32(0))  // port: the kernel's
        return start
    }

    private mutating func end(_ start: Int) {
        buffer.storeBytes(of: UInt32(count - start), toByteOffset: start, as: UInt32.self)
    }

    private mutating func appendAddress(_ type: UInt16, _ address: IPAddress) {
        append(UInt16(4 + address.byteCount))
        append(type)
        if address.family == .v4 {
            append(UInt32(truncatingIfNeeded: address.low).bigEndian)
        } else {
            append(address.high.bigEndian)
            append(address.low.bigEndian)
        }
    }

    private mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        guard buffer.count - count >= MemoryLayout<Number>.size else { return }
        buffer.storeBytes(of: number, toByteOffset: count, as: Number.self)
        count += MemoryLayout<Number>.size
    }
}
