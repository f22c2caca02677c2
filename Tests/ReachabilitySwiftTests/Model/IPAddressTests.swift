// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

@Suite("IPAddress")
struct IPAddressTests {
    @Test("an IPv4-mapped IPv6 address is IPv4")
    func mapped() {
        #expect(IPAddress(v6High: 0, low: 0xffff_c000_0201) == IPAddress(v4: 0xc000_0201))
        #expect(IPAddress(v6High: 0, low: 0xffff_ffff_ffff_ffff).family == .v6)
        #expect(IPAddress(v6High: 1, low: 0xffff_c000_0201).family == .v6)
        #expect(address("::ffff:192.0.2.1").family == .v4)
    }

    @Test(
        "classes of addresses",
        arguments: [
            ("0.0.0.0", ["unspecified"]), ("127.0.0.1", ["loopback4"]), ("127.255.255.255", ["loopback4"]),
            ("128.0.0.0", []), ("126.255.255.255", []), ("169.254.0.1", ["linkLocal4"]), ("169.255.0.1", []),
            ("169.253.255.255", []), ("::", ["unspecified"]), ("::1", []), ("fe80::1", ["linkLocal6"]),
            ("febf::1", ["linkLocal6"]), ("fec0::1", ["global6"]), ("fe7f::1", ["global6"]),
            ("2001:db8::1", ["global6"]),
            ("fd00::1", ["global6"]), ("ff02::1", []), ("ff05::1", []), ("ff0e::1", ["global6"]), ("::2", ["global6"]),
        ] as [(String, Set<String>)])
    func classes(text: String, expected: Set<String>) {
        let address = address(text)
        var found: Set<String> = []
        if address.isUnspecified { found.insert("unspecified") }
        if address.isLoopbackV4 { found.insert("loopback4") }
        if address.isLinkLocalV4 { found.insert("linkLocal4") }
        if address.isLinkLocalV6 { found.insert("linkLocal6") }
        if address.isGlobalScopeV6 { found.insert("global6") }
        #expect(found == expected)
    }

    @Test("prefixes: first, last, and whether another address is in one", arguments: 1...4 as ClosedRange<UInt64>)
    func prefixes(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let isV4 = Bool.random(using: &random)
            func next() -> IPAddress {
                isV4
                    ? IPAddress(v4: UInt32.random(in: 0...UInt32.max, using: &random))
                    : IPAddress(v6High: UInt64.random(in: 1...UInt64.max, using: &random), low: random.next())
            }
            let address = next()
            let length = Int.random(in: 0...address.family.bitWidth, using: &random)
            let first = address.first(prefixLength: length)
            let last = address.last(prefixLength: length)
            #expect(
                bits(first) == bits(address).prefix(length)
                    + String(repeating: "0", count: bits(address).count - length))
            #expect(
                bits(last) == bits(address).prefix(length) + String(repeating: "1", count: bits(address).count - length)
            )
            #expect(!IPAddress.precedes(address, first) && !IPAddress.precedes(last, address))
            let other = Bool.random(using: &random) ? next() : last
            #expect(
                address.matches(other, prefixLength: length)
                    == (bits(other).prefix(length) == bits(address).prefix(length)))
            #expect(IPAddress.precedes(address, other) == (bits(address) < bits(other)))
        }
    }

    private func bits(_ address: IPAddress) -> String {
        (0..<address.byteCount).map { index in
            let digits = String(address.byte(index), radix: 2)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    @Test("lengths that cannot be match nothing, families are apart")
    func oddPrefixes() {
        let v4 = address("192.0.2.1")
        #expect(!v4.matches(v4, prefixLength: 33))
        #expect(v4.matches(address("1.2.3.4"), prefixLength: 0))
        #expect(v4.matches(address("1.2.3.4"), prefixLength: -1))
        #expect(!v4.matches(address("::1"), prefixLength: 0))
        #expect(IPAddress.precedes(v4, address("::1")))
        #expect(!IPAddress.precedes(address("::1"), v4))
    }

    @Test(
        "text is what inet_ntop makes of it",
        arguments: ["0.0.0.0", "192.0.2.1", "::", "::1", "2001:db8::1", "fe80::1"])
    func text(text: String) {
        #expect(String(decoding: address(text).text, as: UTF8.self) == text)
        #expect(address(text).description == text)
    }

    @Test("socket addresses of every length and family")
    func socketAddresses() {
        func parse(_ bytes: [UInt8]) -> Result<IPAddress, Errno> {
            bytes.withUnsafeBytes { bytes in
                do throws(Errno) { return .success(try IPAddress(socketAddress: bytes)) } catch {
                    return .failure(error)
                }
            }
        }
        func bytes(_ family: Int32, _ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 7, count: count)
            withUnsafeBytes(of: sa_family_t(family)) { family in
                for place in 0..<min(2, count) { bytes[place] = family[place] }
            }
            return bytes
        }
        for count in [0, 1, 2, 15, 16, 27, 28, 128, 129, 300] {
            let isLength = (2...128).contains(count)
            let v4: Result<IPAddress, Errno> =
                isLength && count >= 16 ? .success(IPAddress(v4: 0x0707_0707)) : .failure(.invalidArgument)
            #expect(parse(bytes(AF_INET, count)) == v4, "\(count)")
            let seven: UInt64 = 0x0707_0707_0707_0707
            let v6: Result<IPAddress, Errno> =
                isLength && count >= 28
                ? .success(IPAddress(v6High: seven, low: seven, link: 0x0707_0707)) : .failure(.invalidArgument)
            #expect(parse(bytes(AF_INET6, count)) == v6, "\(count)")
            for family in [AF_UNSPEC, AF_UNIX, AF_NETLINK, 0xffff] {
                #expect(
                    parse(bytes(family, count)) == .failure(isLength ? .addressFamilyNotSupported : .invalidArgument))
            }
        }
    }
}
