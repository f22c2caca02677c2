// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

public import Foundation

public var kSCStatusOK: Int { 0 }
public var kSCStatusFailed: Int { 1001 }
public var kSCStatusInvalidArgument: Int { 1002 }
public var kSCStatusAccessError: Int { 1003 }
public var kSCStatusNoKey: Int { 1004 }
public var kSCStatusKeyExists: Int { 1005 }
public var kSCStatusLocked: Int { 1006 }
public var kSCStatusNeedLock: Int { 1007 }
public var kSCStatusNoStoreSession: Int { 2001 }
public var kSCStatusNoStoreServer: Int { 2002 }
public var kSCStatusNotifierActive: Int { 2003 }
public var kSCStatusNoPrefsSession: Int { 3001 }
public var kSCStatusPrefsBusy: Int { 3002 }
public var kSCStatusNoConfigFile: Int { 3003 }
public var kSCStatusNoLink: Int { 3004 }
public var kSCStatusStale: Int { 3005 }
public var kSCStatusMaxLink: Int { 3006 }
public var kSCStatusReachabilityUnknown: Int { 4001 }
public var kSCStatusConnectionNoService: Int { 5001 }
public var kSCStatusConnectionIgnore: Int { 5002 }

/// The domain of errors with these codes.
public var kCFErrorDomainSystemConfiguration: CFString { "com.apple.SystemConfiguration" as NSString }

/// The last failure of the calling thread: one of the codes above, or an errno value. Success leaves it alone.
public func SCError() -> Int32 {
    ThreadStatus.value
}

/// What a code means. Never fails: codes that are not among those above are taken for errno values.
public func SCErrorString(_ status: Int32) -> UnsafePointer<CChar> {
    if let text = StatusText.of(status) {
        return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
    return UnsafePointer(strerror(status))
}

/// The last failure of the calling thread as an error. There is one also when it has had none, with code 0.
public func SCCopyLastError() -> CFError {
    let status = SCError()
    let domain = StatusText.of(status) == nil ? NSPOSIXErrorDomain : "com.apple.SystemConfiguration"
    let text = String(cString: SCErrorString(status))
    return NSError(domain: domain, code: Int(status), userInfo: [NSLocalizedDescriptionKey: text])
}

/// Failure with a code, in one expression.
func fail<Result>(_ status: Int, _ result: Result) -> Result {
    ThreadStatus.value = Int32(truncatingIfNeeded: status)
    return result
}

/// Where each thread keeps its status: the number itself takes the place of the pointer that a key stands for, so that
/// there is nothing to allocate and nothing to free.
enum ThreadStatus {
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    static var value: Int32 {
        get { key.map { Int32(truncatingIfNeeded: Int(bitPattern: pthread_getspecific($0))) } ?? 0 }
        set { if let key { pthread_setspecific(key, UnsafeRawPointer(bitPattern: Int(newValue))) } }
    }
}

private enum StatusText {
    /// The text of one of the codes that have a name here.
    static func of(_ status: Int32) -> StaticString? {
        switch Int(status) {
        case kSCStatusOK: return "Success!"
        case kSCStatusFailed: return "Failed!"
        case kSCStatusInvalidArgument: return "Invalid argument"
        case kSCStatusAccessError: return "Permission denied"
        case kSCStatusNoKey: return "No such key"
        case kSCStatusKeyExists: return "Key already defined"
        case kSCStatusLocked: return "Lock already held"
        case kSCStatusNeedLock: return "Lock required for this operation"
        case kSCStatusNoStoreSession: return "Configuration daemon session not active"
        case kSCStatusNoStoreServer: return "Configuration daemon not (no longer) available"
        case kSCStatusNotifierActive: return "Notifier is currently active"
        case kSCStatusNoPrefsSession: return "Preference session not active"
        case kSCStatusPrefsBusy: return "Preferences update currently in progress"
        case kSCStatusNoConfigFile: return "Configuration file not found"
        case kSCStatusNoLink: return "No such link"
        case kSCStatusStale: return "Write attempted on stale version of object"
        case kSCStatusMaxLink: return "Maximum link count exceeded"
        case kSCStatusReachabilityUnknown: return "Network reachability cannot be determined"
        case kSCStatusConnectionNoService: return "Network service for connection not available"
        case kSCStatusConnectionIgnore: return "Network connection information not available at this time"
        default: return nil
        }
    }
}
