// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Glibc
import Testing

@testable import ReachabilitySwift

@Suite("Targets as Swift programs make them")
struct TargetMakingTests {
    @Test("from a host", arguments: [("example.com", "example.com"), ("127.1", "127.0.0.1"), ("0", "the internet")])
    func hosts(host: String, description: String) throws {
        #expect(try ReachabilityTarget(host: host).description == description)
    }

    @Test("from no host", arguments: ["", "a\u{0}b"])
    func noHost(host: String) {
        #expect(throws: Errno.invalidArgument) { try ReachabilityTarget(host: host) }
    }

    @Test("from the structures of the socket functions")
    func structures() throws {
        var v4 = sockaddr_in()
        #expect(throws: Errno.addressFamilyNotSupported) { try ReachabilityTarget(address: v4) }
        v4.sin_family = sa_family_t(AF_INET)
        #expect(try ReachabilityTarget(address: v4).description == "the internet")
        v4.sin_addr.s_addr = in_addr_t(0xc000_0201).bigEndian
        #expect(try ReachabilityTarget(address: v4).description == "192.0.2.1")

        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_addr = in6addr_loopback
        v6.sin6_scope_id = 4_000_000
        #expect(try ReachabilityTarget(address: v6).description == "::1%4000000")

        var storage = sockaddr_storage()
        #expect(throws: Errno.addressFamilyNotSupported) { try ReachabilityTarget(address: storage) }
        withUnsafeMutableBytes(of: &storage) { storage in
            withUnsafeBytes(of: v4) { storage.copyMemory(from: $0) }
        }
        #expect(try ReachabilityTarget(address: storage).description == "192.0.2.1")

        for (length, isEnough) in [(15, false), (16, true), (128, true), (129, false)] {
            let target = try? withUnsafePointer(to: storage) { pointer in
                try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    try ReachabilityTarget(address: pointer, length: socklen_t(length))
                }
            }
            #expect((target != nil) == isEnough, "\(length) bytes")
        }
    }

    @Test("from pairs")
    func pairs() throws {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_addr.s_addr = in_addr_t(0xc000_0201).bigEndian
        #expect(try ReachabilityTarget(local: v4, remote: v4).description == "192.0.2.1 to 192.0.2.1")
        #expect(try ReachabilityTarget(local: nil, remote: v4).description == "any to 192.0.2.1")
        let mixed = try ReachabilityTarget(local: IPAddress("192.0.2.1"), remote: IPAddress("2001:db8::1"))
        #expect(mixed.description == "192.0.2.1 to 2001:db8::1")
        #expect(throws: Errno.invalidArgument) {
            try ReachabilityTarget(local: nil as IPAddress?, remote: nil as IPAddress?)
        }
        #expect(throws: Errno.addressFamilyNotSupported) { try ReachabilityTarget(local: sockaddr_in(), remote: v4) }
    }
}

@Suite("Values as Swift programs see them")
struct ValueTests {
    @Test("an address is the same by text, and as a key")
    func addresses() throws {
        let texts = ["192.0.2.1", "::1", "2001:db8::1", "fe80::1%4000000"]
        let addresses = texts.compactMap { IPAddress($0) }
        #expect(addresses.map(\.description) == texts)
        #expect(Set(addresses + addresses).count == texts.count)
        #expect(IPAddress("fe80::1%1") != IPAddress("fe80::1"))
        #expect(IPAddress("nobody") == nil)
    }

    @Test("words")
    func words() {
        #expect(ReachabilityStatus.reachableViaWWAN.description == "reachable via WWAN")
        #expect(ReachabilityReason.noCarrier.description == "the link has lost its carrier")
        #expect(LinkKind.wifi.description == "Wi-Fi")
        #expect(Errno.timedOut.description == "Connection timed out (\(ETIMEDOUT))")
        #expect("\(ReachabilityFlags([.reachable, .isDirect]))" == "Reachable,Directly Reachable Address")
    }

    @Test(
        "times as the core takes them, never too short",
        arguments: [
            (.zero, 0), (.seconds(-1), 0), (.nanoseconds(-1), 0), (.nanoseconds(1), 1), (.milliseconds(1), 1),
            (.microseconds(1001), 2), (.seconds(5), 5000), (.seconds(2_147_482), 2_147_482_000),
            (.seconds(2_147_483), -1), (.seconds(Int64.max), -1), (nil, -1),
        ] as [(Duration?, Int32)])
    func timeouts(timeout: Duration?, milliseconds: Int32) {
        #expect(Timeout.milliseconds(timeout) == milliseconds)
    }
}
