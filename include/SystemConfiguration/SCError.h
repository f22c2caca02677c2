/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Status codes and the error of the thread. Apple has them in SystemConfiguration.h; see there.
 */
#ifndef REACH_SC_ERROR_H
#define REACH_SC_ERROR_H

#include <string.h>

#include <CoreFoundation/CoreFoundation.h>
#include <CoreFoundation/ReachShared.h>

/* A real CoreFoundation that stands before this one on the include path is the one that is meant. */
#if !defined(REACH_CF_BASE_H) && !defined(REACH_USE_COREFOUNDATION)
#define REACH_USE_COREFOUNDATION 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    kSCStatusOK = 0,
    kSCStatusFailed = 1001,
    kSCStatusInvalidArgument = 1002,
    kSCStatusAccessError = 1003,
    kSCStatusNoKey = 1004,
    kSCStatusKeyExists = 1005,
    kSCStatusLocked = 1006,
    kSCStatusNeedLock = 1007,
    kSCStatusNoStoreSession = 2001,
    kSCStatusNoStoreServer = 2002,
    kSCStatusNotifierActive = 2003,
    kSCStatusNoPrefsSession = 3001,
    kSCStatusPrefsBusy = 3002,
    kSCStatusNoConfigFile = 3003,
    kSCStatusNoLink = 3004,
    kSCStatusStale = 3005,
    kSCStatusMaxLink = 3006,
    kSCStatusReachabilityUnknown = 4001,
    kSCStatusConnectionNoService = 5001,
    kSCStatusConnectionIgnore = 5002
};

#define kCFErrorDomainSystemConfiguration (__extension__ CFSTR("com.apple.SystemConfiguration"))

/* The last failure of this thread. Success leaves it alone. */
REACH_CF_SHARED __thread int reach_sc_error_1 = kSCStatusOK;

static inline int SCError(void)
{
    return reach_sc_error_1;
}

/* The text of Apple's own codes, NULL for others. */
static inline const char *reach_sc_status_text(int status)
{
    switch (status) {
    case kSCStatusOK:
        return "Success!";
    case kSCStatusFailed:
        return "Failed!";
    case kSCStatusInvalidArgument:
        return "Invalid argument";
    case kSCStatusAccessError:
        return "Permission denied";
    case kSCStatusNoKey:
        return "No such key";
    case kSCStatusKeyExists:
        return "Key already defined";
    case kSCStatusLocked:
        return "Lock already held";
    case kSCStatusNeedLock:
        return "Lock required for this operation";
    case kSCStatusNoStoreSession:
        return "Configuration daemon session not active";
    case kSCStatusNoStoreServer:
        return "Configuration daemon not (no longer) available";
    case kSCStatusNotifierActive:
        return "Notifier is currently active";
    case kSCStatusNoPrefsSession:
        return "Preference session not active";
    case kSCStatusPrefsBusy:
        return "Preferences update currently in progress";
    case kSCStatusNoConfigFile:
        return "Configuration file not found";
    case kSCStatusNoLink:
        return "No such link";
    case kSCStatusStale:
        return "Write attempted on stale version of object";
    case kSCStatusMaxLink:
        return "Maximum link count exceeded";
    case kSCStatusReachabilityUnknown:
        return "Network reachability cannot be determined";
    case kSCStatusConnectionNoService:
        return "Network service for connection not available";
    case kSCStatusConnectionIgnore:
        return "Network connection information not available at this time";
    default:
        return NULL;
    }
}

/* Never NULL. Other codes are errno values, as a failing SCNetworkReachabilityGetFlags leaves them. */
static inline const char *SCErrorString(int status)
{
    const char *text = reach_sc_status_text(status);

    return text != NULL ? text : strerror(status);
}

/* To be released by the caller; there is one also when the thread has had no error, with code 0. */
static inline CFErrorRef SCCopyLastError(void)
{
    int status = SCError();
    CFStringRef domain = reach_sc_status_text(status) != NULL ? kCFErrorDomainSystemConfiguration : kCFErrorDomainPOSIX;
#ifdef REACH_USE_COREFOUNDATION
    CFStringRef text = CFStringCreateWithCString(NULL, SCErrorString(status), kCFStringEncodingUTF8);
    const void *keys[] = {kCFErrorDescriptionKey}, *values[] = {text};
    CFErrorRef error = CFErrorCreateWithUserInfoKeysAndValues(NULL, domain, status, keys, values, 1);

    CFRelease(text);
    return error;
#else
    return reach_cf_error_create(domain, status, SCErrorString(status));
#endif
}

/* Failure, with its code, in one expression. */
static inline Boolean reach_sc_fail(int status)
{
    reach_sc_error_1 = status;
    return FALSE;
}

#ifdef __cplusplus
}
#endif

#endif
