// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation

/// The name of the notification that NotificationCenter.default sends on the main thread when a status changed. Its
/// object is the instance, its userInfo has the keys below. Using the name starts the shared instance, so that
/// observing is all there is to do.
public var FXReachabilityStatusDidChangeNotification: NSNotification.Name {
    _ = FXReachability.shared
    return FXReachabilityNotification.name
}

extension NSNotification.Name {
    /// The same, as Swift names the notifications of Objective-C.
    public static var FXReachabilityStatusDidChange: NSNotification.Name { FXReachabilityStatusDidChangeNotification }
}

/// The key for the new status: a number, the raw value of an FXReachabilityStatus, which it can be cast to.
public let FXReachabilityNotificationStatusKey = "status"

/// The key for the status before: a number, the raw value of an FXReachabilityStatus, which it can be cast to.
public let FXReachabilityNotificationPreviousStatusKey = "previousStatus"

/// The key for the host that the statuses are about: a String.
public let FXReachabilityNotificationHostKey = "host"

enum FXReachabilityNotification {
    static let name = NSNotification.Name("FXReachabilityStatusDidChangeNotification")
}
