// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
import ReachabilitySwift

/// The status of a host.
///
/// Mirrors the enumeration of the same name for Apple's systems.
public enum FXReachabilityStatus: Int, Sendable {
    /// Not known at this time, as before the first notification.
    case unknown = -1
    /// There is no path to the host.
    case notReachable = 0
    /// The path to the host goes over a cellular link, which may be slow or metered.
    case reachableViaWWAN = 1
    /// The path to the host goes over Wi-Fi, cable, or anything else that is not cellular.
    case reachableViaWiFi = 2

    init(_ status: ReachabilityStatus) {
        switch status {
        case .unknown: self = .unknown
        case .notReachable: self = .notReachable
        case .reachableViaWWAN: self = .reachableViaWWAN
        case .reachableViaWiFi: self = .reachableViaWiFi
        }
    }
}

/// A notification carries statuses as numbers, as it does on Apple's systems. This is how Foundation has a number taken
/// out of a userInfo by "as? FXReachabilityStatus" as well as by "as? Int".
extension FXReachabilityStatus: _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSNumber { NSNumber(value: rawValue) }

    public static func _forceBridgeFromObjectiveC(_ source: NSNumber, result: inout FXReachabilityStatus?) {
        result = FXReachabilityStatus(rawValue: source.intValue)
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSNumber, result: inout FXReachabilityStatus?
    ) -> Bool {
        result = FXReachabilityStatus(rawValue: source.intValue)
        return result != nil
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSNumber?) -> FXReachabilityStatus {
        source.flatMap { FXReachabilityStatus(rawValue: $0.intValue) } ?? .unknown
    }
}
