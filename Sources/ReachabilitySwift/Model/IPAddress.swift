// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// An IPv4 or IPv6 address, with the link that its scope names.
///
/// IPv4-mapped IPv6 addresses become IPv4 when they are made, so that everything above judges them as IPv4.
public struct IPAddress: Equatable, Sendable {
    package enum Family: UInt8, Sendable {
        case v4 = 2  // AF_INET
        case v6 = 10  // AF_INET6

        package var bitWidth: Int { self == .v4 ? 32 : 128 }
    }

    /// The first eight bytes of an IPv6 address as a number, 0 for IPv4.
    package let high: UInt64
    /// The last eight bytes of an IPv6 address, or the four of an IPv4 one, as a number.
    package let low: UInt64
    /// Index of the link that the address is scoped to, 0 for none.
    package let link: UInt32
    // Last, so that there is no hole before the numbers, and an optional address is as small as an address.
    package let family: Family

    private init(family: Family, high: UInt64, low: UInt64, link: UInt32) {
        self.family = family
        self.high = high
        self.low = low
        self.link = link
    }

    package init(v4 value: UInt32, link: UInt32 = 0) {
        self.init(family: .v4, high: 0, low: UInt64(value), link: link)
    }

    package init(v6High high: UInt64, low: UInt64, link: UInt32 = 0) {
        if high == 0, low >> 32 == 0xffff {
            self.init(v4: UInt32(truncatingIfNeeded: low), link: link)
        } else {
            self.init(family: .v6, high: high, low: low, link: link)
        }
    }

    /// Reads four or sixteen bytes in network order. Nil for any other count.
    package init?(networkBytes bytes: UnsafeRawBufferPointer, link: UInt32 = 0) {
        switch bytes.count {
        case 4:
            self.init(v4: UInt32(truncatingIfNeeded: IPAddress.number(bytes, 0, 4)), link: link)
        case 16:
            self.init(v6High: IPAddress.number(bytes, 0, 8), low: IPAddress.number(bytes, 8, 8), link: link)
        default:
            return nil
        }
    }

    /// Reads a struct sockaddr of the length that the caller gave.
    package init(socketAddress bytes: UnsafeRawBufferPointer) throws(Errno) {
        let family = try IPAddress.socketFamily(bytes)
        switch family {
        case AF_INET:
            guard bytes.count >= 16 else { throw Errno.invalidArgument }
            self.init(v4: UInt32(truncatingIfNeeded: IPAddress.number(bytes, 4, 4)))
        case AF_INET6:
            guard bytes.count >= 28 else { throw Errno.invalidArgument }
            self.init(
                v6High: IPAddress.number(bytes, 8, 8), low: IPAddress.number(bytes, 16, 8),
                link: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
        default:
            throw Errno.addressFamilyNotSupported
        }
    }

    /// The family field of a struct sockaddr, after the checks that do not depend on it.
    private static func socketFamily(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int32 {
        guard bytes.count >= 2, bytes.count <= MemoryLayout<sockaddr_storage>.size else {
            throw Errno.invalidArgument
        }
        return Int32(bytes.loadUnaligned(as: sa_family_t.self))
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in offset..<offset + count { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    package static let loopbackV4 = IPAddress(v4: 0x7f00_0001)
    package static let loopbackV6 = IPAddress(v6High: 0, low: 1)

    package var isUnspecified: Bool { high == 0 && low == 0 }

    /// 127/8.
    package var isLoopbackV4: Bool { family == .v4 && low >> 24 == 127 }

    /// 127/8 or ::1.
    package var isLoopback: Bool { isLoopbackV4 || (family == .v6 && high == 0 && low == 1) }

    /// 169.254/16.
    package var isLinkLocalV4: Bool { family == .v4 && low >> 16 == 0xa9fe }

    /// fe80::/10.
    package var isLinkLocalV6: Bool { family == .v6 && high >> 54 == 0x3fa }

    /// Whether a packet to this IPv6 address may be routed, so that a link-local source would be of no use: every
    /// unicast address that is not link-local or loopback, private ones (fc00::/7) included, and multicast of global
    /// scope.
    package var isGlobalScopeV6: Bool {
        guard family == .v6 else { return false }
        if high >> 56 == 0xff { return (high >> 48) & 0xf == 0xe }
        return !isLinkLocalV6 && !(high == 0 && low <= 1)
    }

    /// The same address on no link in particular.
    package var unscoped: IPAddress { IPAddress(family: family, high: high, low: low, link: 0) }

    /// fc00::/7, for use inside a site.
    private var isUniqueLocalV6: Bool { high >> 57 == 0x7e }

    /// Whether the kernel would choose one source address over another one for packets to here (RFC 6724): of the same
    /// kind first, and then by the longest common prefix. Of equals it chooses the first.
    package func prefers(_ source: IPAddress, to other: IPAddress) -> Bool {
        let isAlike = source.isUniqueLocalV6 == isUniqueLocalV6
        if isAlike != (other.isUniqueLocalV6 == isUniqueLocalV6) { return isAlike }
        return commonBits(source) > commonBits(other)
    }

    private func commonBits(_ other: IPAddress) -> Int {
        let first = (high ^ other.high).leadingZeroBitCount
        return first < 64 ? first : 64 + (low ^ other.low).leadingZeroBitCount
    }

    /// Whether the first bits are the same as those of another address of the same family.
    package func matches(_ other: IPAddress, prefixLength: Int) -> Bool {
        guard family == other.family, prefixLength <= family.bitWidth else { return false }
        if prefixLength <= 0 { return true }
        if family == .v4 { return (low ^ other.low) >> UInt64(32 - prefixLength) == 0 }
        if prefixLength <= 64 { return (high ^ other.high) >> UInt64(64 - prefixLength) == 0 }
        return high == other.high && (low ^ other.low) >> UInt64(128 - prefixLength) == 0
    }

    /// The first address that has the same first bits.
    package func first(prefixLength: Int) -> IPAddress {
        let last = last(prefixLength: prefixLength)
        let zero = IPAddress(family: family, high: 0, low: 0, link: 0).last(prefixLength: prefixLength)
        return IPAddress(family: family, high: last.high & ~zero.high, low: last.low & ~zero.low, link: 0)
    }

    /// The last address that has the same first bits.
    package func last(prefixLength: Int) -> IPAddress {
        let bits = max(0, min(prefixLength, family.bitWidth))
        if family == .v4 {
            return IPAddress(family: .v4, high: 0, low: low | (0xffff_ffff as UInt64) >> UInt64(bits), link: 0)
        }
        return IPAddress(
            family: .v6,
            high: bits >= 64 ? high : high | UInt64.max >> UInt64(bits),
            low: bits <= 64 ? UInt64.max : low | UInt64.max >> UInt64(bits - 64), link: 0)
    }

    /// An order in which the addresses of one prefix stand together. Links do not count.
    package static func precedes(_ left: IPAddress, _ right: IPAddress) -> Bool {
        if left.family != right.family { return left.family.rawValue < right.family.rawValue }
        if left.high != right.high { return left.high < right.high }
        return left.low < right.low
    }

    /// The byte at an index in network order, within the family's four or sixteen.
    package func byte(_ index: Int) -> UInt8 {
        let (word, shift) =
            family == .v4
            ? (low, 24 - 8 * index) : index < 8 ? (high, 56 - 8 * index) : (low, 120 - 8 * index)
        return UInt8(truncatingIfNeeded: word >> UInt64(max(0, shift)))
    }

    package var byteCount: Int { family == .v4 ? 4 : 16 }

    /// The text that inet_ntop gives, as bytes.
    package var text: [UInt8] {
        var network = [UInt8]()
        for index in 0..<byteCount { network.append(byte(index)) }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = Int32(self.family.rawValue)
        network.withUnsafeBytes { source in
            text.withUnsafeMutableBufferPointer { destination in
                _ = inet_ntop(family, source.baseAddress, destination.baseAddress, socklen_t(destination.count))
            }
        }
        var result = [UInt8]()
        for character in text where character != 0 { result.append(UInt8(bitPattern: character)) }
        return result
    }
}
