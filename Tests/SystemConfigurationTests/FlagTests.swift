// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import SystemConfiguration
import Testing

@Suite struct FlagTests {
    @Test func flagsHaveApplesBits() {
        let bits: [(SCNetworkReachabilityFlags, UInt32)] = [
            (.transientConnection, 0x1), (.reachable, 0x2), (.connectionRequired, 0x4), (.connectionOnTraffic, 0x8),
            (.connectionAutomatic, 0x8), (.interventionRequired, 0x10), (.connectionOnDemand, 0x20),
            (.isLocalAddress, 0x10000), (.isDirect, 0x20000), (.isWWAN, 0x40000),
        ]
        for (flag, bit) in bits { #expect(flag.rawValue == bit) }
        let both: SCNetworkReachabilityFlags = [.reachable, .isDirect]
        #expect(both.contains(.reachable) && !both.contains(.isWWAN) && both.rawValue == 0x20002)
    }

    @Test func olderNumbersAreTheSame() {
        let flags: SCNetworkReachabilityFlags = [.reachable, .connectionRequired]
        #expect(flags.rawValue & UInt32(kSCNetworkFlagsReachable) != 0)
        #expect(flags.rawValue & UInt32(kSCNetworkFlagsConnectionRequired) != 0)
        let others = [
            kSCNetworkFlagsTransientConnection, kSCNetworkFlagsConnectionAutomatic, kSCNetworkFlagsInterventionRequired,
            kSCNetworkFlagsIsLocalAddress, kSCNetworkFlagsIsDirect,
        ]
        #expect(others == [0x1, 0x8, 0x10, 0x10000, 0x20000])
    }
}
