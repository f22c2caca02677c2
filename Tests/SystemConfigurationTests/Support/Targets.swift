// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
@testable import SystemConfiguration
import Testing

/// An address of either family, as the pointer that the functions want.
func withAddress<Result>(_ text: String, scope: UInt32 = 0, _ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
    var v6 = sockaddr_in6()
    if inet_pton(AF_INET6, text, &v6.sin6_addr) == 1 {
        v6.sin6_len = UInt8(MemoryLayout<sockaddr_in6>.size)
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_scope_id = scope
        return withUnsafePointer(to: &v6) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
    var v4 = sockaddr_in()
    v4.sin_len = UInt8(MemoryLayout<sockaddr_in>.size)
    v4.sin_family = sa_family_t(AF_INET)
    v4.sin_addr.s_addr = inet_addr(text)
    return withUnsafePointer(to: &v4) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
}

func addressTarget(_ text: String, scope: UInt32 = 0) throws -> SCNetworkReachability {
    try #require(withAddress(text, scope: scope) { SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, $0) })
}

func pairTarget(_ local: String?, _ remote: String?) throws -> SCNetworkReachability {
    let target: SCNetworkReachability?
    switch (local, remote) {
    case (let local?, let remote?):
        target = withAddress(local) { local in
            withAddress(remote) { SCNetworkReachabilityCreateWithAddressPair(nil, local, $0) }
        }
    case (let local?, nil): target = withAddress(local) { SCNetworkReachabilityCreateWithAddressPair(nil, $0, nil) }
    case (nil, let remote?): target = withAddress(remote) { SCNetworkReachabilityCreateWithAddressPair(nil, nil, $0) }
    case (nil, nil): target = SCNetworkReachabilityCreateWithAddressPair(nil, nil, nil)
    }
    return try #require(target)
}

func nameTarget(_ name: String) throws -> SCNetworkReachability {
    try #require(SCNetworkReachabilityCreateWithName(nil, name))
}

/// The flags, asked; the call must succeed.
func ask(_ target: SCNetworkReachability, _ location: SourceLocation = #_sourceLocation) throws -> UInt32 {
    var flags = SCNetworkReachabilityFlags(rawValue: .max)
    try #require(SCNetworkReachabilityGetFlags(target, &flags), sourceLocation: location)
    return flags.rawValue
}

/// The thread's status, whatever it was, becomes something that no call here sets.
func forgetError() {
    ThreadStatus.value = Int32(kSCStatusNoKey)
}

/// The call returns false and says 1002.
func expectInvalid(_ call: @autoclosure () -> Bool, _ location: SourceLocation = #_sourceLocation) {
    forgetError()
    #expect(!call(), sourceLocation: location)
    #expect(SCError() == kSCStatusInvalidArgument, sourceLocation: location)
}

let reachable: UInt32 = 0x2
