// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Writes rtnetlink requests, one after the other, into one buffer that is sent in one system call.
///
/// The kernel answers the messages of one datagram in their order, each before it looks at the next.
struct RequestWriter {
    /// The longest request there is: header, fixed part, two IPv6 addresses, a link and a user.
    static let longest = 16 + 12 + 20 + 20 + 8 + 8

    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
    var hasRoom: Bool { buffer.count - count >= RequestWriter.longest }

    /// RTM_GETROUTE. With asEntry, the kernel shows the matching entry of the table, with all its next hops and how
    /// long it lasts, instead of the way one packet would take.
    ///
    /// - Parameter user: for whom, where rules tell users apart; else the kernel takes the real user of the caller.
    mutating func askRoute(_ question: RouteQuestion, asEntry: Bool, user: UInt32?, sequence: UInt32) {
        let start = begin(Int(RTM_GETROUTE), sequence)
        let family = question.destination.family
        let source = question.source?.family == family ? question.source : nil
        var route = rtmsg()
        route.rtm_family = family.rawValue
        route.rtm_dst_len = UInt8(family.bitWidth)
        route.rtm_src_len = source == nil ? 0 : UInt8(family.bitWidth)
        route.rtm_flags = asEntry ? UInt32(RTM_F_FIB_MATCH) : 0
        append(route)
        append(RTA_DST.rawValue, question.destination)
        if let source { append(RTA_SRC.rawValue, source) }
        if question.link != 0 { append(RTA_OIF.rawValue, question.link) }
        if let user { append(RTA_UID.rawValue, user) }
        end(start)
    }

    /// RTM_GETLINK, without the counters, which are most of a reply.
    mutating func askLink(_ index: UInt32, sequence: UInt32) {
        let start = begin(Int(RTM_GETLINK), sequence)
        var link = ifinfomsg()
        link.ifi_index = Int32(bitPattern: index)
        append(link)
        append(UInt32(IFLA_EXT_MASK), UInt32(RTEXT_FILTER_SKIP_STATS))
        end(start)
    }

    /// All that there is of a kind, of one family or with AF_UNSPEC of all.
    mutating func list(_ type: Int, family: Int32, sequence: UInt32) {
        let start = begin(type, sequence, flags: NLM_F_DUMP)
        var generic = rtmsg()
        generic.rtm_family = UInt8(family)
        append(generic)
        end(start)
    }

    /// The header, whose length is known at the end. The port stays 0, the kernel's.
    private mutating func begin(_ type: Int, _ sequence: UInt32, flags: Int32 = 0) -> Int {
        let start = count
        var header = nlmsghdr()
        header.nlmsg_type = UInt16(type)
        header.nlmsg_flags = UInt16(NLM_F_REQUEST | flags)
        header.nlmsg_seq = sequence
        append(header)
        return start
    }

    private mutating func end(_ start: Int) {
        buffer.storeBytes(of: UInt32(count - start), toByteOffset: start, as: UInt32.self)
    }

    private mutating func append(_ type: UInt32, _ address: IPAddress) {
        append(rtattr(rta_len: UInt16(4 + address.byteCount), rta_type: UInt16(type)))
        if address.family == .v4 {
            append(UInt32(truncatingIfNeeded: address.low).bigEndian)
        } else {
            append(address.high.bigEndian)
            append(address.low.bigEndian)
        }
    }

    private mutating func append(_ type: UInt32, _ number: UInt32) {
        append(rtattr(rta_len: 8, rta_type: UInt16(type)))
        append(number)
    }

    private mutating func append<Part: BitwiseCopyable>(_ part: Part) {
        guard buffer.count - count >= MemoryLayout<Part>.size else { return }
        buffer.storeBytes(of: part, toByteOffset: count, as: Part.self)
        count += MemoryLayout<Part>.size
    }
}
