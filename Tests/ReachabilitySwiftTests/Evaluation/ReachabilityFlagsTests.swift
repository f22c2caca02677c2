// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Testing

@testable import ReachabilitySwift

@Suite("ReachabilityFlags")
struct ReachabilityFlagsTests {
    @Test("bits are Apple's")
    func bits() {
        #expect(ReachabilityFlags.transientConnection.rawValue == 1)
        #expect(ReachabilityFlags.reachable.rawValue == 2)
        #expect(ReachabilityFlags.connectionRequired.rawValue == 4)
        #expect(ReachabilityFlags.connectionOnTraffic.rawValue == 8)
        #expect(ReachabilityFlags.interventionRequired.rawValue == 16)
        #expect(ReachabilityFlags.connectionOnDemand.rawValue == 32)
        #expect(ReachabilityFlags.isLocalAddress.rawValue == 0x1_0000)
        #expect(ReachabilityFlags.isDirect.rawValue == 0x2_0000)
        #expect(ReachabilityFlags.isWWAN.rawValue == 0x4_0000)
    }

    @Test("online is reachable without a connection to be made first; the status says the same", arguments: 0..<512)
    func online(index: Int) {
        // All combinations of the bits that there are.
        let flags = ReachabilityFlags(rawValue: UInt32(index & 0x3f) | UInt32(index >> 6) << 16)
        let isOnline = flags.rawValue & 2 != 0 && flags.rawValue & 4 == 0
        #expect(flags.isOnline == isOnline)
        let status: ReachabilityStatus =
            !isOnline ? .notReachable : flags.rawValue & 0x4_0000 != 0 ? .reachableViaWWAN : .reachableViaWiFi
        #expect(flags.status == status)
    }

    @Test(
        "words",
        arguments: [
            (0, "Not Reachable"), (2, "Reachable"), (3, "Reachable,Transient Connection"),
            (7, "Reachable,Transient Connection,Connection Required"),
            (0x3_0002, "Reachable,Local Address,Directly Reachable Address"),
            (0x4_0003, "Reachable,Transient Connection,WWAN"),
            (0x20, "Automatic Connection On Demand"), (0x18, "Automatic Connection On Traffic,Intervention Required"),
            (0x8000_0002, "Reachable,0x80000000"), (0x40, "0x00000040"),
        ] as [(UInt32, String)])
    func words(rawValue: UInt32, text: String) {
        #expect(ReachabilityFlags(rawValue: rawValue).description == text)
    }

    @Test("statuses are the original's numbers")
    func statuses() {
        let statuses: [ReachabilityStatus] = [.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi]
        #expect(statuses.map(\.rawValue) == [-1, 0, 1, 2])
    }
}
