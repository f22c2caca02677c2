// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import CReach
import ReachabilitySwift

@_cdecl("reach_flags_is_online")
public func reachFlagsIsOnline(_ flags: UInt32) -> Bool {
    ReachabilityFlags(rawValue: flags).isOnline
}

@_cdecl("reach_flags_status")
public func reachFlagsStatus(_ flags: UInt32) -> Int32 {
    ReachabilityFlags(rawValue: flags).status.rawValue
}

@_cdecl("reach_flags_describe")
public func reachFlagsDescribe(_ flags: UInt32, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int) -> Int {
    CText.copy(ReachabilityFlags(rawValue: flags).descriptionBytes, to: buffer, size: size)
}

@_cdecl("reach_version")
public func reachVersion() -> UInt32 {
    UInt32(REACH_VERSION_MAJOR) << 16 | UInt32(REACH_VERSION_MINOR) << 8 | UInt32(REACH_VERSION_PATCH)
}

@_cdecl("reach_version_string")
public func reachVersionString() -> UnsafePointer<CChar>? {
    // The header's REACH_VERSION_STRING; a test compares the two.
    CText.constant("1.0.0")
}
