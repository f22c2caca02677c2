// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Addresses in text, as host names that are none.
package enum AddressLiteral {
    /// The address that a text stands for: everything that inet_aton or inet_pton accepts, with an optional %link.
    ///
    /// A link that does not exist gives an index that no link has, so that the address is not reachable: taking it for
    /// "any link" would make a promise about another one.
    ///
    /// - Throws: the error by which it could not be told whether there is such a link.
    package static func read(_ text: [UInt8]) throws(Errno) -> IPAddress? {
        guard !text.contains(0) else { return nil }
        guard let percent = text.firstIndex(of: UInt8(ascii: "%")) else { return parse(text, link: 0) }
        let address = [UInt8](text[..<percent])
        guard parse(address, link: 0) != nil else { return nil }
        guard let link = try linkIndex([UInt8](text[(percent + 1)...])) else { return nil }
        return parse(address, link: link)
    }

    /// The same, for those to whom it matters only whether a text is an address.
    package static func parse(_ text: [UInt8]) -> IPAddress? {
        do throws(Errno) { return try read(text) } catch { return nil }
    }

    /// No link has it: the kernel's indexes are positive 32-bit integers that count up from 1.
    package static let noLink = UInt32(Int32.max)

    private static func parse(_ text: [UInt8], link: UInt32) -> IPAddress? {
        var text = text
        text.append(0)
        return text.withUnsafeBytes { bytes -> IPAddress? in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return nil }
            var v4 = in_addr()
            if inet_aton(start, &v4) != 0 { return IPAddress(v4: UInt32(bigEndian: v4.s_addr), link: link) }
            var v6 = in6_addr()
            if inet_pton(AF_INET6, start, &v6) == 1 {
                return withUnsafeBytes(of: &v6) { IPAddress(networkBytes: $0, link: link) }
            }
            return nil
        }
    }

    private static func linkIndex(_ scope: [UInt8]) throws(Errno) -> UInt32? {
        guard !scope.isEmpty else { return nil }
        var name = scope
        name.append(0)
        var failure = Errno(rawValue: ENODEV)
        let index = name.withUnsafeBytes { bytes -> UInt32 in
            guard let start = bytes.baseAddress else { return 0 }
            let index = if_nametoindex(start.assumingMemoryBound(to: CChar.self))
            if index == 0 { failure = Errno.last }
            return index
        }
        if index != 0 { return index }
        if let number = decimal(scope) { return number }
        // It opens a socket to ask, and there may be none to have.
        if failure.rawValue != ENODEV, failure.rawValue != ENXIO { throw failure }
        return noLink
    }

    private static func decimal(_ text: [UInt8]) -> UInt32? {
        var value: UInt64 = 0
        for character in text {
            guard character >= UInt8(ascii: "0"), character <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + UInt64(character - UInt8(ascii: "0"))
            guard value < UInt64(noLink) else { return nil }
        }
        return UInt32(value)
    }
}
