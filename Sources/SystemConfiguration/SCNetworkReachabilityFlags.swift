// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// The names that the flags had before they were an option set, and in the first versions of Swift.

extension SCNetworkReachabilityFlags {
    @available(*, deprecated, renamed: "transientConnection")
    public static var TransientConnection: SCNetworkReachabilityFlags { .transientConnection }
    @available(*, deprecated, renamed: "reachable")
    public static var Reachable: SCNetworkReachabilityFlags { .reachable }
    @available(*, deprecated, renamed: "connectionRequired")
    public static var ConnectionRequired: SCNetworkReachabilityFlags { .connectionRequired }
    @available(*, deprecated, renamed: "connectionOnTraffic")
    public static var ConnectionOnTraffic: SCNetworkReachabilityFlags { .connectionOnTraffic }
    @available(*, deprecated, renamed: "interventionRequired")
    public static var InterventionRequired: SCNetworkReachabilityFlags { .interventionRequired }
    @available(*, deprecated, renamed: "connectionOnDemand")
    public static var ConnectionOnDemand: SCNetworkReachabilityFlags { .connectionOnDemand }
    @available(*, deprecated, renamed: "isLocalAddress")
    public static var IsLocalAddress: SCNetworkReachabilityFlags { .isLocalAddress }
    @available(*, deprecated, renamed: "isDirect")
    public static var IsDirect: SCNetworkReachabilityFlags { .isDirect }
    @available(*, deprecated, renamed: "isWWAN")
    public static var IsWWAN: SCNetworkReachabilityFlags { .isWWAN }
    @available(*, deprecated, renamed: "connectionAutomatic")
    public static var ConnectionAutomatic: SCNetworkReachabilityFlags { .connectionAutomatic }
}

// The flags as numbers, for code that tests raw values.
public typealias SCNetworkConnectionFlags = UInt32

public var kSCNetworkFlagsTransientConnection: Int { 1 << 0 }
public var kSCNetworkFlagsReachable: Int { 1 << 1 }
public var kSCNetworkFlagsConnectionRequired: Int { 1 << 2 }
public var kSCNetworkFlagsConnectionAutomatic: Int { 1 << 3 }
public var kSCNetworkFlagsInterventionRequired: Int { 1 << 4 }
public var kSCNetworkFlagsIsLocalAddress: Int { 1 << 16 }
public var kSCNetworkFlagsIsDirect: Int { 1 << 17 }
