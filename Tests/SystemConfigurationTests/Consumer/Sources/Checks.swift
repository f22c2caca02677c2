// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

// The import on its own brings all that such a file needs.
import SystemConfiguration

/// The check that very many programs have.
func connectedToNetwork() -> Bool {
    var zeroAddress = sockaddr_in()
    zeroAddress.sin_len = UInt8(MemoryLayout.size(ofValue: zeroAddress))
    zeroAddress.sin_family = sa_family_t(AF_INET)

    guard
        let target = withUnsafePointer(
            to: &zeroAddress,
            { $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SCNetworkReachabilityCreateWithAddress(nil, $0) } }
        )
    else { return false }

    var flags: SCNetworkReachabilityFlags = []
    if !SCNetworkReachabilityGetFlags(target, &flags) { return false }
    return flags.contains(.reachable) && !flags.contains(.connectionRequired)
}

/// The same by IPv6, in an older manner.
func connectedToNetworkByIPv6() -> Bool {
    var zeroAddress = sockaddr_in6()
    zeroAddress.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
    zeroAddress.sin6_family = sa_family_t(AF_INET6)
    let target = withUnsafePointer(to: &zeroAddress) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, $0)
        }
    }
    var flags = SCNetworkReachabilityFlags(rawValue: 0)
    if SCNetworkReachabilityGetFlags(target!, &flags) == false { return false }
    let isReachable = (flags.rawValue & UInt32(kSCNetworkFlagsReachable)) != 0
    let needsConnection = (flags.rawValue & UInt32(kSCNetworkFlagsConnectionRequired)) != 0
    return isReachable && !needsConnection
}

/// The one that is copied most, which names every member of the address.
public class Reachability {
    class func isConnectedToNetwork() -> Bool {
        var zeroAddress = sockaddr_in(
            sin_len: 0, sin_family: 0, sin_port: 0, sin_addr: in_addr(s_addr: 0), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        zeroAddress.sin_len = UInt8(MemoryLayout.size(ofValue: zeroAddress))
        zeroAddress.sin_family = sa_family_t(AF_INET)

        let defaultRouteReachability = withUnsafePointer(to: &zeroAddress) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { zeroSockAddress in
                SCNetworkReachabilityCreateWithAddress(nil, zeroSockAddress)
            }
        }

        var flags: SCNetworkReachabilityFlags = SCNetworkReachabilityFlags(rawValue: 0)
        if SCNetworkReachabilityGetFlags(defaultRouteReachability!, &flags) == false { return false }

        let isReachable = (flags.rawValue & UInt32(kSCNetworkFlagsReachable)) != 0
        let needsConnection = (flags.rawValue & UInt32(kSCNetworkFlagsConnectionRequired)) != 0
        return isReachable && !needsConnection
    }
}

/// The other addresses made in that manner, and the older name of the flags.
func connectionFlags() -> SCNetworkConnectionFlags {
    var any = sockaddr(
        sa_len: UInt8(MemoryLayout<sockaddr>.size), sa_family: sa_family_t(AF_INET),
        sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    var v6 = sockaddr_in6(
        sin6_len: UInt8(MemoryLayout<sockaddr_in6>.size), sin6_family: sa_family_t(AF_INET6), sin6_port: 0,
        sin6_flowinfo: 0, sin6_addr: in6addr_any, sin6_scope_id: 0)
    let target = withUnsafePointer(to: &v6) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            SCNetworkReachabilityCreateWithAddressPair(nil, &any, $0)
        }
    }
    var flags = SCNetworkReachabilityFlags()
    guard let target, SCNetworkReachabilityGetFlags(target, &flags) else { return .max }
    return flags.rawValue
}

/// Throws the last error, as it is.
func target(named name: String) throws -> SCNetworkReachability {
    guard let target = SCNetworkReachabilityCreateWithName(nil, name) else {
        let error = SCCopyLastError()
        guard CFErrorGetDomain(error) == kCFErrorDomainSystemConfiguration else { fatalError() }
        throw error
    }
    return target
}

/// Text and modes, as code that goes on to run loops has them.
func modes() -> [CFString] {
    let text = "a mode"
    let description = Unmanaged.passRetained(text as CFString)
    return [
        CFRunLoopMode.defaultMode.rawValue, CFRunLoopMode.commonModes!.rawValue, kCFRunLoopDefaultMode,
        kCFRunLoopCommonModes,
        CFRunLoopMode("another" as CFString).rawValue, description.takeRetainedValue(),
    ]
}
