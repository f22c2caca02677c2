// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CLinux

extension ReachabilityFlags: CustomStringConvertible {
    /// The flags in words: "Reachable,Directly Reachable Address", "Not Reachable" for none.
    ///
    /// Mirrors "scutil -r".
    public var description: String { String(decoding: descriptionBytes, as: UTF8.self) }
}

extension ReachabilityStatus: CustomStringConvertible {
    /// The status in words: "unknown", "not reachable", "reachable via WWAN", "reachable via Wi-Fi or cable".
    public var description: String {
        switch self {
        case .unknown: return "unknown"
        case .notReachable: return "not reachable"
        case .reachableViaWWAN: return "reachable via WWAN"
        case .reachableViaWiFi: return "reachable via Wi-Fi or cable"
        }
    }
}

extension ReachabilityReason: CustomStringConvertible {
    /// The reason in words: "no route", "the link has lost its carrier".
    ///
    /// Mirrors reach_reason_text.
    public var description: String { text.description }
}

extension LinkKind: CustomStringConvertible {
    /// The kind in words: "Ethernet", "Wi-Fi", "cellular".
    public var description: String {
        switch self {
        case .none: return "no link"
        case .other: return "other"
        case .loopback: return "loopback"
        case .ethernet: return "Ethernet"
        case .wifi: return "Wi-Fi"
        case .cellular: return "cellular"
        case .ppp: return "PPP"
        case .tunnel: return "tunnel"
        }
    }
}

extension Errno: CustomStringConvertible {
    /// What libc says of the number, and the number: "Connection timed out (110)".
    ///
    /// Mirrors strerror.
    public var description: String { "\(String(cString: strerror(rawValue))) (\(rawValue))" }
}
