// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

/// What a link is. The raw values are those of REACH_LINK_ in the C header.
public enum LinkKind: Int32, Sendable {
    /// No link is involved.
    case none = 0
    /// None of the kinds below.
    case other = 1
    /// This machine itself.
    case loopback = 2
    /// Cable, or a virtual Ethernet device.
    case ethernet = 3
    /// Wireless LAN.
    case wifi = 4
    /// A modem.
    case cellular = 5
    /// The point-to-point protocol.
    case ppp = 6
    /// tun, WireGuard, GRE, IP in IP and other point-to-point links.
    case tunnel = 7

    /// The kind in words, a constant.
    package var text: StaticString {
        switch self {
        case .none: return "none"
        case .other: return "of another kind"
        case .loopback: return "loopback"
        case .ethernet: return "Ethernet"
        case .wifi: return "Wi-Fi"
        case .cellular: return "cellular"
        case .ppp: return "PPP"
        case .tunnel: return "tunnel"
        }
    }
}

/// The state of a link, as RTM_GETLINK tells it.
package struct Link: Sendable {
    /// Operational states of RFC 2863 that matter here; the kernel's IF_OPER_ numbers.
    package enum OperationalState {
        static let lowerLayerDown: UInt8 = 3
        static let dormant: UInt8 = 5
    }

    package let index: UInt32
    /// ARPHRD_ number.
    package let hardwareType: UInt16
    /// IFF_ bits.
    package let flags: UInt32
    package let operationalState: UInt8
    package let name: InterfaceName
    /// IFLA_INFO_KIND, such as "veth" or "wireguard": empty for hardware.
    package let infoKind: InterfaceName
    package var kind: LinkKind = .other

    package init(
        index: UInt32, hardwareType: UInt16, flags: UInt32, operationalState: UInt8, name: InterfaceName,
        infoKind: InterfaceName
    ) {
        self.index = index
        self.hardwareType = hardwareType
        self.flags = flags
        self.operationalState = operationalState
        self.name = name
        self.infoKind = infoKind
    }

    package var isEnabled: Bool { flags & UInt32(IFF_UP) != 0 }
    /// Up, and running: the operational state is up or, for links that do not tell, unknown.
    package var isUsable: Bool { isEnabled && flags & UInt32(IFF_RUNNING) != 0 }
    package var isDormant: Bool { isEnabled && operationalState == OperationalState.dormant }
    package var isPointToPoint: Bool { flags & UInt32(IFF_POINTOPOINT) != 0 }
}

/// A short name in a fixed number of bytes, such as a link's, without an allocation.
package struct InterfaceName: Equatable, Sendable {
    package static let capacity = 16
    private var storage: (UInt64, UInt64) = (0, 0)

    package init() {}

    /// Takes the bytes up to the first NUL, at most fifteen.
    package init(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &storage) { destination in
            for (index, byte) in bytes.prefix(InterfaceName.capacity - 1).enumerated() {
                if byte == 0 { break }
                destination[index] = byte
            }
        }
    }

    package var bytes: [UInt8] {
        var result = [UInt8]()
        withUnsafeBytes(of: storage) { source in
            for byte in source where byte != 0 { result.append(byte) }
        }
        return result
    }

    package func equals(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count < InterfaceName.capacity else { return false }
        return withUnsafeBytes(of: storage) { source in
            for index in 0..<count where source[index] != text.utf8Start[index] { return false }
            return source[count] == 0
        }
    }

    package static func == (left: InterfaceName, right: InterfaceName) -> Bool {
        left.storage == right.storage
    }
}
