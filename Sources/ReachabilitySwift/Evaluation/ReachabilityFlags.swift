// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// What can be said of the way to a target. Empty means not reachable.
///
/// Mirrors SCNetworkReachabilityFlags, bit for bit.
public struct ReachabilityFlags: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The way goes over a link that comes and goes.
    public static let transientConnection = ReachabilityFlags(rawValue: 1 << 0)
    /// A packet sent now would leave the machine, or stay on it.
    public static let reachable = ReachabilityFlags(rawValue: 1 << 1)
    /// Something must happen first.
    public static let connectionRequired = ReachabilityFlags(rawValue: 1 << 2)
    /// The connection that is required is made by traffic.
    public static let connectionOnTraffic = ReachabilityFlags(rawValue: 1 << 3)
    /// A person must act first. Not produced on Linux.
    public static let interventionRequired = ReachabilityFlags(rawValue: 1 << 4)
    /// The connection is made on demand. Not produced on Linux.
    public static let connectionOnDemand = ReachabilityFlags(rawValue: 1 << 5)
    /// The address is this machine's own.
    public static let isLocalAddress = ReachabilityFlags(rawValue: 1 << 16)
    /// No gateway lies between.
    public static let isDirect = ReachabilityFlags(rawValue: 1 << 17)
    /// The way goes over a cellular link.
    public static let isWWAN = ReachabilityFlags(rawValue: 1 << 18)

    /// All that can be said of the internet at large, which is no address of anybody's.
    static var meaningfulForInternet: ReachabilityFlags {
        [.transientConnection, .reachable, .connectionRequired, .connectionOnTraffic, .isWWAN]
    }

    /// Reachable, and no connection required first.
    public var isOnline: Bool { contains(.reachable) && !contains(.connectionRequired) }

    /// What the flags come to. Never unknown.
    public var status: ReachabilityStatus {
        if !isOnline { return .notReachable }
        return contains(.isWWAN) ? .reachableViaWWAN : .reachableViaWiFi
    }

    /// Online before needs-a-connection before nothing.
    var rank: Int { isOnline ? 2 : contains(.reachable) ? 1 : 0 }
}

/// What flags come to, for a user interface.
///
/// Mirrors FXReachability's status. The raw values are those of REACH_STATUS_ in the C header.
public enum ReachabilityStatus: Int32, Sendable {
    /// Not yet known.
    case unknown = -1
    /// Not reachable, or a connection is required first.
    case notReachable = 0
    /// Reachable over a cellular link.
    case reachableViaWWAN = 1
    /// Reachable over Wi-Fi, cable, or anything else that is not cellular.
    case reachableViaWiFi = 2
}
