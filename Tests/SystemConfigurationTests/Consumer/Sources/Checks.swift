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
