// SPDX-FileCopyrightText: The libreach authors
// SPDX-License-Identifier: MIT

import Foundation
@testable import SystemConfiguration
import Testing

@Suite struct ErrorTests {
    @Test func eachThreadHasItsOwnError() async {
        expectInvalid(SCNetworkReachabilityCreateWithName(nil, "") != nil)
        let other = await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: SCError()) }
        }
        #expect(other == kSCStatusOK)
    }

    @Test func codesHaveApplesNumbersAndTexts() {
        let texts: [(Int, Int, String)] = [
            (kSCStatusOK, 0, "Success!"), (kSCStatusFailed, 1001, "Failed!"),
            (kSCStatusInvalidArgument, 1002, "Invalid argument"), (kSCStatusAccessError, 1003, "Permission denied"),
            (kSCStatusNoKey, 1004, "No such key"), (kSCStatusKeyExists, 1005, "Key already defined"),
            (kSCStatusLocked, 1006, "Lock already held"), (kSCStatusNeedLock, 1007, "Lock required for this operation"),
            (kSCStatusNoStoreSession, 2001, "Configuration daemon session not active"),
            (kSCStatusNoStoreServer, 2002, "Configuration daemon not (no longer) available"),
            (kSCStatusNotifierActive, 2003, "Notifier is currently active"),
            (kSCStatusNoPrefsSession, 3001, "Preference session not active"),
            (kSCStatusPrefsBusy, 3002, "Preferences update currently in progress"),
            (kSCStatusNoConfigFile, 3003, "Configuration file not found"), (kSCStatusNoLink, 3004, "No such link"),
            (kSCStatusStale, 3005, "Write attempted on stale version of object"),
            (kSCStatusMaxLink, 3006, "Maximum link count exceeded"),
            (kSCStatusReachabilityUnknown, 4001, "Network reachability cannot be determined"),
            (kSCStatusConnectionNoService, 5001, "Network service for connection not available"),
            (kSCStatusConnectionIgnore, 5002, "Network connection information not available at this time"),
        ]
        for (code, number, text) in texts {
            #expect(code == number)
            #expect(String(cString: SCErrorString(Int32(code))) == text)
        }
        #expect(String(cString: SCErrorString(ENOMEM)) == String(cString: strerror(ENOMEM)))
        #expect(String(cString: SCErrorString(-77)) == String(cString: strerror(-77)))
    }

    @Test func theLastErrorIsAnObject() {
        expectInvalid(SCNetworkReachabilityCreateWithName(nil, "") != nil)
        let invalid = SCCopyLastError()
        #expect(CFErrorGetCode(invalid) == 1002)
        #expect(CFErrorGetDomain(invalid) as String == "com.apple.SystemConfiguration")
        #expect(kCFErrorDomainSystemConfiguration as String == invalid.domain)
        #expect((invalid as Error).localizedDescription == "Invalid argument")
        #expect(CFErrorCopyDescription(invalid) as String == "Invalid argument")
        ThreadStatus.value = 0
        #expect(SCCopyLastError().code == 0)
        ThreadStatus.value = ENOMEM
        #expect(SCCopyLastError().domain == NSPOSIXErrorDomain)
    }
}
