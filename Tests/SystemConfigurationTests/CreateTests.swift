// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import SystemConfiguration
import Testing

/// Making targets, which asks nobody anything.
@Suite struct CreateTests {
    @Test func addressesOfBothFamiliesAreAccepted() {
        for text in [
            "0.0.0.0", "255.255.255.255", "224.0.0.1", "127.0.0.1", "8.8.8.8", "::", "::ffff:8.8.8.8", "fe80::1",
            "ff02::1",
        ] {
            forgetError()
            #expect(withAddress(text) { SCNetworkReachabilityCreateWithAddress(nil, $0) } != nil, "\(text)")
            #expect(SCError() == kSCStatusNoKey, "Success leaves the error alone.")
        }
    }

    @Test func otherFamiliesAreRefused() {
        for family in [AF_UNSPEC, AF_UNIX, AF_NETLINK, AF_PACKET] {
            var address = sockaddr()
            address.sa_len = UInt8(MemoryLayout<sockaddr>.size)
            address.sa_family = sa_family_t(family)
            expectInvalid(SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, &address) != nil)
            expectInvalid(SCNetworkReachabilityCreateWithAddressPair(nil, &address, nil) != nil)
            withAddress("8.8.8.8") { good in
                expectInvalid(SCNetworkReachabilityCreateWithAddressPair(nil, good, &address) != nil)
            }
        }
    }

    @Test func aPairNeedsOneSide() throws {
        expectInvalid(SCNetworkReachabilityCreateWithAddressPair(nil, nil, nil) != nil)
        #expect(try pairTarget("10.1.0.2", nil).description.hasSuffix("{local address = 10.1.0.2}"))
        #expect(try pairTarget(nil, "8.8.8.8").description.hasSuffix("{remote address = 8.8.8.8}"))
        #expect(
            try pairTarget("0.0.0.0", "::").description.hasSuffix("{local address = 0.0.0.0, remote address = ::}"),
            "Families may differ, and zero addresses are ordinary ones.")
        #expect(try pairTarget("127.0.0.1", "8.8.8.8").description.hasSuffix("{address = 8.8.8.8}"))
        #expect(
            try pairTarget("127.0.0.1", "127.0.0.2").description.hasSuffix("127.0.0.1, remote address = 127.0.0.2}"))
    }

    @Test func anEmptyNameIsRefused() {
        expectInvalid(SCNetworkReachabilityCreateWithName(nil, "") != nil)
    }

    @Test func anyOtherNameIsAccepted() throws {
        let names = [
            "apple.com", "host:80", "http://host", ".", "a..b", "a b", "häuser.example", "en0",
            String(repeating: "x", count: 5000),
        ]
        for name in names {
            #expect(try nameTarget(name).description.hasSuffix("{name = \(name)}"))
        }
    }

    @Test func namesThatAreAddressesBecomeThose() throws {
        let descriptions = [
            "0": "default path", "0.0.0.0": "default path", "::": "default path", "10": "address = 0.0.0.10",
            "127.1": "address = 127.0.0.1", "0x7f.1": "address = 127.0.0.1", "010.1": "address = 8.0.0.1",
            "::1": "address = ::1", "fe80::1%lo": "address = fe80::1%lo",
            "fe80::1%1000000": "address = fe80::1%1000000",
        ]
        for (name, description) in descriptions {
            #expect(try nameTarget(name).description.hasSuffix("{\(description)}"), "\(name)")
        }
    }

    @Test func aScopeIsShownAsItsLink() throws {
        let index = if_nametoindex("lo")
        #expect(try addressTarget("fe80::1", scope: index).description.hasSuffix("{address = fe80::1%lo}"))
        #expect(
            try addressTarget("fe80::1", scope: 2_000_000_000).description.hasSuffix("{address = fe80::1%2000000000}"),
            "There is no such link.")
    }

    @Test func aTargetIsEqualToItselfOnly() throws {
        let (one, other) = (try addressTarget("0.0.0.0"), try addressTarget("0.0.0.0"))
        #expect(one !== other && one != other && one == one)
        #expect(Set([one, other, one]).count == 2)
        #expect(CFEqual(one, one) && !CFEqual(one, other))
        #expect(CFHash(one) == CFHash(one))
        #expect(CFGetTypeID(one) == SCNetworkReachabilityGetTypeID())
        #expect(CFGetTypeID(one) != CFRunLoopGetTypeID())
        #expect(CFCopyDescription(one) as String == one.description)
        #expect(one.description.hasPrefix("<SCNetworkReachability 0x"))
        #expect("\(one)" == one.description && String(describing: one) == one.description, "Printed, it says the same.")
    }

    @Test func theAddressIsCopied() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let target = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SCNetworkReachabilityCreateWithAddress(nil, $0) }
        }
        address.sin_addr.s_addr = inet_addr("8.8.8.8")
        #expect(try #require(target).description.hasSuffix("{address = 127.0.0.1}"))
    }

    @Test func lengthsHaveAPlaceToGo() {
        var any = sockaddr(), v4 = sockaddr_in(), v6 = sockaddr_in6(), storage = sockaddr_storage()
        any.sa_len = 1
        v4.sin_len = 2
        v6.sin6_len = 3
        storage.ss_len = 4
        #expect((any.sa_len, v4.sin_len, v6.sin6_len) == (16, 16, 28), "What was assigned is not kept.")
        storage.ss_family = sa_family_t(AF_INET6)
        #expect(storage.ss_len == 28)
        withUnsafeBytes(of: &any) { #expect($0.allSatisfy { $0 == 0 }, "It goes nowhere.") }
        withUnsafeBytes(of: &v4) { #expect($0.allSatisfy { $0 == 0 }) }
        withUnsafeBytes(of: &v6) { #expect($0.allSatisfy { $0 == 0 }) }
    }

    @Test func addressesCanBeMadeOfAllTheirMembers() {
        let any = sockaddr(
            sa_len: 16, sa_family: sa_family_t(AF_UNIX), sa_data: (-1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -14))
        let family = withUnsafeBytes(of: sa_family_t(AF_UNIX)) { [UInt8]($0) }
        withUnsafeBytes(of: any) {
            #expect([UInt8]($0) == family + [255, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 242])
        }
        let v4 = sockaddr_in(
            sin_len: 16, sin_family: sa_family_t(AF_INET), sin_port: 1, sin_addr: in_addr(s_addr: 2),
            sin_zero: (3, 4, 5, 6, 7, 8, 9, -10))
        #expect(v4.sin_family == AF_INET && v4.sin_port == 1 && v4.sin_addr.s_addr == 2)
        withUnsafeBytes(of: v4.sin_zero) { #expect([UInt8]($0) == [3, 4, 5, 6, 7, 8, 9, 246]) }
        let v6 = sockaddr_in6(
            sin6_len: 28, sin6_family: sa_family_t(AF_INET6), sin6_port: 1, sin6_flowinfo: 2,
            sin6_addr: in6addr_loopback, sin6_scope_id: 3)
        #expect(v6.sin6_family == AF_INET6 && v6.sin6_port == 1 && v6.sin6_flowinfo == 2 && v6.sin6_scope_id == 3)
        withUnsafeBytes(of: v6.sin6_addr) { #expect([UInt8]($0) == [UInt8](repeating: 0, count: 15) + [1]) }
    }
}
