// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux
import Testing

@testable import ReachabilitySwift

@Suite("LinkClassifier")
struct LinkClassifierTests {
    private func link(_ hardwareType: UInt16, _ infoKind: String = "", flags: UInt32 = 0, name: String = "wlan0")
        -> Link
    {
        Link(
            index: 7, hardwareType: hardwareType, flags: flags, operationalState: 6,
            name: [UInt8](name.utf8).withUnsafeBytes { InterfaceName($0) },
            infoKind: [UInt8](infoKind.utf8).withUnsafeBytes { InterfaceName($0) })
    }

    @Test(
        "by what the kernel says, whatever the name",
        arguments: [
            (772, "", 0, .loopback), (512, "", UInt32(IFF_POINTOPOINT), .ppp), (519, "", 0, .cellular),
            (519, "tun", UInt32(IFF_POINTOPOINT), .cellular), (801, "", 0, .wifi), (802, "", 0, .wifi),
            (803, "", 0, .wifi),
            (1, "wwan", 0, .cellular), (0xfffe, "rmnet", 0, .cellular),
            (0xfffe, "tun", UInt32(IFF_POINTOPOINT), .tunnel),
            (0xfffe, "wireguard", UInt32(IFF_POINTOPOINT), .tunnel), (778, "gre", UInt32(IFF_POINTOPOINT), .tunnel),
            (1, "veth", 0, .ethernet), (1, "bridge", 0, .ethernet), (1, "macvlan", 0, .ethernet), (804, "", 0, .other),
            (32, "ipoib", 0, .other), (0xffff, "", 0, .other),
        ] as [(UInt16, String, UInt32, LinkKind)])
    func byType(hardwareType: UInt16, infoKind: String, flags: UInt32, kind: LinkKind) {
        for name in ["wlan0", "wwan0", "ppp0", "eth0"] {
            #expect(LinkClassifier.kindByType(link(hardwareType, infoKind, flags: flags, name: name)) == kind)
        }
    }

    @Test("hardware that is like Ethernet has to be looked at more closely")
    func undecided() {
        #expect(LinkClassifier.kindByType(link(1)) == nil)
    }
}
