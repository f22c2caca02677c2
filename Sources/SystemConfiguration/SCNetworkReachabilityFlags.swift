// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

/// What can be said of the way to a target. Empty means not reachable.
public struct SCNetworkReachabilityFlags: OptionSet, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The way goes over a link that comes and goes: point-to-point, or cellular.
    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// A packet sent now would leave the machine, or stay on it.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    /// Something must happen first, such as a dial.
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    /// The connection that is required is made by traffic.
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    /// A person must act first. Not produced on Linux.
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    /// The connection is made on demand. Not produced on Linux.
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    /// The address is this machine's own.
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    /// No gateway lies between.
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// The way goes over a cellular link.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)

    /// Another name of connectionOnTraffic.
    public static let connectionAutomatic = connectionOnTraffic
}

// MARK: Older names

extension SCNetworkReachabilityFlags {
    @available(*, deprecated, renamed: "transientConnection")
    public static let TransientConnection = transientConnection
    @available(*, deprecated, renamed: "reachable")
    public static let Reachable = reachable
    @available(*, deprecated, renamed: "connectionRequired")
    public static let ConnectionRequired = connectionRequired
    @available(*, deprecated, renamed: "connectionOnTraffic")
    public static let ConnectionOnTraffic = connectionOnTraffic
    @available(*, deprecated, renamed: "interventionRequired")
    public static let InterventionRequired = interventionRequired
    @available(*, deprecated, renamed: "connectionOnDemand")
    public static let ConnectionOnDemand = connectionOnDemand
    @available(*, deprecated, renamed: "isLocalAddress")
    public static let IsLocalAddress = isLocalAddress
    @available(*, deprecated, renamed: "isDirect")
    public static let IsDirect = isDirect
    @available(*, deprecated, renamed: "isWWAN")
    public static let IsWWAN = isWWAN
    @available(*, deprecated, renamed: "connectionAutomatic")
    public static let ConnectionAutomatic = connectionAutomatic
}

// The flags as numbers, for code that tests raw values.
public var kSCNetworkFlagsTransientConnection: Int { 1 << 0 }
public var kSCNetworkFlagsReachable: Int { 1 << 1 }
public var kSCNetworkFlagsConnectionRequired: Int { 1 << 2 }
public var kSCNetworkFlagsConnectionAutomatic: Int { 1 << 3 }
public var kSCNetworkFlagsInterventionRequired: Int { 1 << 4 }
public var kSCNetworkFlagsIsLocalAddress: Int { 1 << 16 }
public var kSCNetworkFlagsIsDirect: Int { 1 << 17 }
