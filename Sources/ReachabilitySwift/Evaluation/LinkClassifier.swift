// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// Tells what a link is from what the kernel says of it: device type, link kind, device class and driver. Never from
/// its name, which people and udev choose.
package enum LinkClassifier {
    /// ARPHRD_ numbers; <linux/if_arp.h> cannot be imported beside <net/if.h>.
    private enum HardwareType {
        static let ethernet: UInt16 = 1
        static let ppp: UInt16 = 512
        static let rawIP: UInt16 = 519
        static let loopback: UInt16 = 772
        static let ieee80211: ClosedRange<UInt16> = 801...803
    }

    /// What can be told without asking anybody; nil when an Ethernet-like device has to be looked at more closely.
    package static func kindByType(_ link: Link) -> LinkKind? {
        switch link.hardwareType {
        case HardwareType.loopback: return .loopback
        case HardwareType.ppp: return .ppp
        case HardwareType.rawIP: return .cellular
        case HardwareType.ieee80211: return .wifi
        default: break
        }
        if link.infoKind.equals("wwan") || link.infoKind.equals("rmnet") { return .cellular }
        if link.isPointToPoint { return .tunnel }
        if link.hardwareType == HardwareType.ethernet {
            // A virtual device has a link kind and is no modem and no radio.
            return link.infoKind == InterfaceName() ? nil : .ethernet
        }
        return .other
    }

    /// Looks at the device class and at the driver of a hardware device.
    ///
    /// - Throws: when there was no descriptor or memory to look with, which says nothing about the device.
    static func kindByDevice(_ link: Link, _ socket: RequestSocket) throws(Errno) -> LinkKind {
        if let kind = try kindByDeviceClass(link) { return kind }
        if let driver = driver(link, socket), isModemDriver(driver) { return .cellular }
        return .ethernet
    }

    /// DEVTYPE in the device's uevent file. sysfs shows the network namespace that it was mounted in, so that the file
    /// counts only when it is about this very link.
    private static func kindByDeviceClass(_ link: Link) throws(Errno) -> LinkKind? {
        var path = [UInt8]("/sys/class/net/")
        path.append(contentsOf: link.name.bytes)
        path.append(contentsOf: [UInt8]("/uevent"))
        guard let content = try Syscalls.readFully(path, limit: 1024) else { return nil }
        var index = [UInt8]("IFINDEX=")
        index.append(contentsOf: decimal(link.index))
        guard hasLine(content, index) else { return nil }
        if hasLine(content, [UInt8]("DEVTYPE=wlan")) { return .wifi }
        if hasLine(content, [UInt8]("DEVTYPE=wwan")) { return .cellular }
        return nil
    }

    private static func driver(_ link: Link, _ socket: RequestSocket) -> InterfaceName? {
        var driver = InterfaceDriver()
        let name = link.name.bytes
        let result = name.withUnsafeBytes { name in
            withUnsafeMutableBytes(of: &driver.storage) { buffer in
                socket.withDescriptor { fd in
                    clinux_link_driver(
                        fd.rawValue, name.baseAddress?.assumingMemoryBound(to: CChar.self), name.count,
                        buffer.baseAddress?.assumingMemoryBound(to: CChar.self))
                }
            }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: driver.storage) { InterfaceName($0) }
    }

    private struct InterfaceDriver {
        var storage: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    }

    /// Drivers that make Ethernet-like devices of modems. They set the device class too; this is for when sysfs shows
    /// another namespace or is not mounted.
    private static func isModemDriver(_ driver: InterfaceName) -> Bool {
        driver.equals("qmi_wwan") || driver.equals("cdc_mbim") || driver.equals("huawei_cdc_ncm")
            || driver.equals("sierra_net") || driver.equals("hso") || driver.equals("mhi_wwan_mbim")
            || driver.equals("mtk_t7xx") || driver.equals("iosm") || driver.equals("ipa") || driver.equals("bam-dmux")
    }

    private static func hasLine(_ content: [UInt8], _ line: [UInt8]) -> Bool {
        var start = 0
        while start < content.count {
            let rest = content[start...]
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? content.count
            if rest[..<end].elementsEqual(line) { return true }
            start = end + 1
        }
        return false
    }

    private static func decimal(_ number: UInt32) -> [UInt8] {
        var digits = [UInt8]()
        var rest = number
        repeat {
            digits.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        digits.reverse()
        return digits
    }
}
