// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Glibc
import Testing

@testable import ReachabilitySwift

@Suite("AddressLiteral")
struct AddressLiteralTests {
    private func parse(_ text: String) -> IPAddress? { AddressLiteral.parse([UInt8](text.utf8)) }

    @Test(
        "all forms of inet_aton",
        arguments: [
            ("192.0.2.1", 0xc000_0201), ("0.0.0.0", 0), ("255.255.255.255", 0xffff_ffff), ("127.1", 0x7f00_0001),
            ("127.0.1", 0x7f00_0001), ("10", 10), ("0", 0), ("1", 1), ("4294967295", 0xffff_ffff),
            ("127.65535", 0x7f00_ffff),
            ("127.0.65535", 0x7f00_ffff), ("1.16777215", 0x01ff_ffff), ("0x7f.1", 0x7f00_0001),
            ("0x7F000001", 0x7f00_0001),
            ("0xC0.0x0.0x2.0x1", 0xc000_0201), ("017700000001", 0x7f00_0001), ("0300.0.02.01", 0xc000_0201),
            ("192.0.2.1 and more", 0xc000_0201), ("192.0.2.1\n", 0xc000_0201), ("127.0.0.01", 0x7f00_0001),
        ] as [(String, UInt32)])
    func v4(text: String, value: UInt32) {
        #expect(parse(text) == IPAddress(v4: value))
    }

    @Test(
        "forms of inet_pton",
        arguments: [
            ("::", "::"), ("::1", "::1"), ("2001:DB8::1", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("::192.0.2.1", "::192.0.2.1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("fe80::1", "fe80::1"),
        ])
    func v6(text: String, value: String) {
        #expect(parse(text)?.description == value)
    }

    @Test(
        "what is no address",
        arguments: [
            "", " ", "a", "localhost", "example.com", "1.2.3.4.5", "1.2.3.256", "256.1.1.1", "1.2.3.4x", "x1.2.3.4",
            " 1.2.3.4",
            "1..2", ".1", "1.2.3.", "-1", "0x", "08", "1.2.3.0xg", "4294967296", "127.16777216", ":", ":::", "1::2::3",
            "::g",
            "1:2:3:4:5:6:7", "12345::", "fe80::1%", "192.0.2.1%", "%lo", "1.2.3.4:80", "[::1]", "::1/128",
            "192.0.2.0/24",
            "example.com%lo", "1.2.3.4\u{0}", "１.2.3.4",
        ])
    func none(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("a scope is a link's name or number")
    func scopes() throws {
        let loopback = if_nametoindex("lo")
        try #require(loopback != 0)
        #expect(parse("fe80::1%lo") == IPAddress(v6High: 0xfe80_0000_0000_0000, low: 1, link: loopback))
        #expect(parse("fe80::1%\(loopback)")?.link == loopback)
        #expect(parse("192.0.2.1%lo")?.link == loopback)
        #expect(parse("fe80::1%4000000")?.link == 4_000_000)
        #expect(parse("fe80::1%lo")?.description == "fe80::1%lo")
        #expect(IPAddress("fe80::1%4000000")?.description == "fe80::1%4000000")
    }

    /// Taking it for any link would make a promise about another one.
    @Test(
        "a scope that is no link leads nowhere",
        arguments: ["nosuchlink0", "2147483647", "99999999999999999999", "0x1"])
    func noLink(scope: String) {
        #expect(parse("fe80::1%\(scope)")?.link == AddressLiteral.noLink)
    }
}
