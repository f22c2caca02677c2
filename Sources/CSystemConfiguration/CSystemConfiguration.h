/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The types of the Swift module SystemConfiguration that Swift is to take from C, as it does on macOS: then they are
 * just what they are there. In Swift itself no callback could be written whose type is a function pointer and names a
 * class.
 *
 * Swift's importer makes a class of a pointer that is called ...Ref and bridged, and an option set of an enumeration of
 * flags. The objects behind the pointers are Swift's own.
 */
#ifndef CSYSTEMCONFIGURATION_H
#define CSYSTEMCONFIGURATION_H

#include <stdint.h>

#pragma clang assume_nonnull begin
#pragma clang arc_cf_code_audited begin

typedef const struct __attribute__((objc_bridge(id))) __SCNetworkReachability *SCNetworkReachabilityRef;

/* What can be said of the way to a target. Empty means not reachable. */
enum __attribute__((flag_enum, enum_extensibility(open))) SCNetworkReachabilityFlags : uint32_t {
    /* The way goes over a link that comes and goes: point-to-point, or cellular. */
    kSCNetworkReachabilityFlagsTransientConnection = 1 << 0,
    /* A packet sent now would leave the machine, or stay on it. */
    kSCNetworkReachabilityFlagsReachable = 1 << 1,
    /* Something must happen first, such as a dial. */
    kSCNetworkReachabilityFlagsConnectionRequired = 1 << 2,
    /* The connection that is required is made by traffic. */
    kSCNetworkReachabilityFlagsConnectionOnTraffic = 1 << 3,
    kSCNetworkReachabilityFlagsConnectionAutomatic = kSCNetworkReachabilityFlagsConnectionOnTraffic,
    /* A person must act first. Not produced on Linux. */
    kSCNetworkReachabilityFlagsInterventionRequired = 1 << 4,
    /* The connection is made on demand. Not produced on Linux. */
    kSCNetworkReachabilityFlagsConnectionOnDemand = 1 << 5,
    /* The address is this machine's own. */
    kSCNetworkReachabilityFlagsIsLocalAddress = 1 << 16,
    /* No gateway lies between. */
    kSCNetworkReachabilityFlagsIsDirect = 1 << 17,
    /* The way goes over a cellular link. */
    kSCNetworkReachabilityFlagsIsWWAN = 1 << 18
};
typedef enum SCNetworkReachabilityFlags SCNetworkReachabilityFlags;

/* What is called on a change, with the flags that hold then and the info of the context. */
typedef void (*SCNetworkReachabilityCallBack)(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags,
                                              void *_Nullable info);

#pragma clang arc_cf_code_audited end
#pragma clang assume_nonnull end

#endif
