// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import SystemConfiguration

func say(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

/// Called on a change; says whether that is on the main thread or queue, and ends the program when it is offline again.
let callback: SCNetworkReachabilityCallBack = { target, flags, _ in
    say("\(flags.contains(.reachable) ? "online" : "offline") \(Place.isMain ? "main" : "elsewhere")")
    if !flags.contains(.reachable) { exit(0) }
}

enum Place {
    static let key = DispatchSpecificKey<Void>()

    /// Once the main thread is lent to dispatch, the main queue is on any thread.
    static var isMain: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) != nil }
}
