// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("HostName")
struct HostNameTests {
    private static let label63 = String(repeating: "a", count: 63)
    /// 253 characters.
    private static let longest = [label63, label63, label63, String(repeating: "a", count: 61)].joined(separator: ".")

    @Test(
        "well-formed",
        arguments: [
            "a", "example.com", "example.com.", "EXAMPLE.Com", "a-b.c-d", "a--b", "xn--bcher-kva.example", "3com.com",
            "1a",
            "123.example", "localhost", "a.localhost", "127.0.0.1", "127.1", "0x7f.1", "10", "::1", "fe80::1%lo",
            "2001:db8::1", label63 + ".de", longest, longest + ".",
        ])
    func valid(name: String) {
        #expect(HostName.isValid([UInt8](name.utf8)))
        #expect(ReachabilityTarget.isValid(host: name))
    }

    @Test(
        "malformed",
        arguments: [
            "", ".", "..", " ", "\t", "a b", " a", "a ", "a\n", "http://example.com", "https://x", "http://x/", "x:80",
            "x/",
            "a..b", ".a", "a..", "-a", "a-", "a.-b", "a.b-", "a_b", "_http._tcp.example", "*.example.com",
            "bücher.example",
            "例え.jp", "a\u{0}b", "[::1]", "user@example.com", "a,b", label63 + "a.de", longest + "a", "1.2.3.4 ",
        ])
    func malformed(name: String) {
        #expect(!HostName.isValid([UInt8](name.utf8)))
    }

    @Test(
        "this machine by name",
        arguments: [
            "localhost", "LOCALHOST", "LocalHost.", "a.localhost", "a.b.Localhost.", "x.localhost.", "-.localhost",
        ])
    func localhost(name: String) {
        #expect(HostName.isLocalhost([UInt8](name.utf8)))
    }

    @Test(
        "other machines",
        arguments: [
            "", ".", "localhos", "localhostx", "xlocalhost", "a-localhost", "localhost.com", ".localhost",
            "localhost..",
            "local.host", "localhost.localdomain",
        ])
    func notLocalhost(name: String) {
        #expect(!HostName.isLocalhost([UInt8](name.utf8)))
    }
}
