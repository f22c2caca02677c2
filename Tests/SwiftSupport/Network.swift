// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation

/// The network of a namespace that was made for this, from inside it.
public enum Network {
    /// An address behind every gateway: judged, never sent to.
    public static let elsewhere = "203.0.113.9"

    /// One Ethernet link whose peer plays the network on the other side.
    public struct Ethernet: Sendable {
        public let name: String
        public let address: String
        public let gateway: String

        /// The cable.
        public func setCarrier(_ isThere: Bool) {
            ip("link set \(name)-peer \(isThere ? "up" : "down")")
        }

        /// Makes the default route go here, in place of the one there is.
        public func takeDefaultRoute() {
            ip("route replace default via \(gateway) dev \(name)")
        }

        /// Takes the default route away.
        public func dropDefaultRoute() {
            ip("route delete default")
        }
    }

    /// Adds a link with an address, without a default route.
    public static func addEthernet(_ name: String = "eth0", subnet: String = "192.0.2") -> Ethernet {
        ip("link set lo up")
        ip("link add \(name) type veth peer name \(name)-peer")
        ip("link set \(name) addrgenmode none")
        ip("link set \(name)-peer addrgenmode none")
        ip("address add \(subnet).1/24 dev \(name)")
        ip("link set \(name)-peer up")
        ip("link set \(name) up")
        return Ethernet(name: name, address: "\(subnet).1", gateway: "\(subnet).2")
    }

    /// Adds a link that is a modem for the kernel: a tun device with the type of a raw-IP link. It is there as long as
    /// the descriptor that is returned.
    public static func addModem(_ name: String = "modem0", address: String = "192.0.2.129") -> FileHandle {
        let descriptor = open("/dev/net/tun", O_RDWR | O_CLOEXEC)
        check(descriptor >= 0, "/dev/net/tun cannot be opened: \(String(cString: strerror(errno)))")
        let setInterface: UInt = 0x4004_54ca  // TUNSETIFF
        let setType: UInt = 0x4004_54cd  // TUNSETLINK
        let rawIP: Int32 = 519  // ARPHRD_RAWIP
        // struct ifreq: the name, then IFF_TUN | IFF_NO_PI.
        var request = [UInt8](repeating: 0, count: 40)
        for (index, byte) in name.utf8.prefix(15).enumerated() { request[index] = byte }
        request[16] = 0x01
        request[17] = 0x10
        let isMade = request.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { ioctl(descriptor, setInterface, $0) } == 0
        }
        check(isMade && ioctl(descriptor, setType, rawIP) == 0, "no modem: \(String(cString: strerror(errno)))")
        ip("address add \(address)/32 dev \(name)")
        ip("link set \(name) up")
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// What names there are: these, with their addresses, and no others. The files of this mount namespace are
    /// replaced.
    public static func setHosts(_ hosts: [String: String]) {
        replace("/etc/nsswitch.conf", with: "hosts: files\n")
        replace("/etc/hosts", with: hosts.map { "\($0.value) \($0.key)\n" }.sorted().joined())
    }

    /// Who answers for names.
    public static func setNameServer(_ address: String) {
        replace("/etc/nsswitch.conf", with: "hosts: dns\n")
        replace("/etc/resolv.conf", with: "nameserver \(address)\noptions timeout:30 attempts:1\n")
    }

    private static func replace(_ path: String, with content: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "reach-\(UUID().uuidString)")
        check(FileManager.default.createFile(atPath: file.path, contents: Data(content.utf8)), "no \(file.path)")
        let isMounted = mount(file.path, path, nil, UInt(MS_BIND), nil) == 0
        check(isMounted, "\(path) cannot be replaced: \(String(cString: strerror(errno)))")
        unlink(file.path)
    }
}

/// Runs ip(8), which has to succeed.
public func ip(_ words: String) {
    let outcome = Command.run(["ip"] + words.split(separator: " ").map(String.init))
    check(outcome.hasSucceeded, "ip \(words): \(outcome.output)")
}
