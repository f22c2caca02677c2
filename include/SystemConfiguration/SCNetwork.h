/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The older names of the flags, and the two checks in one call that Apple has deprecated. See SystemConfiguration.h.
 */
#ifndef REACH_SC_NETWORK_H
#define REACH_SC_NETWORK_H

#include <SystemConfiguration/SCNetworkReachability.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t SCNetworkConnectionFlags;

enum {
    kSCNetworkFlagsTransientConnection = 1 << 0,
    kSCNetworkFlagsReachable = 1 << 1,
    kSCNetworkFlagsConnectionRequired = 1 << 2,
    kSCNetworkFlagsConnectionAutomatic = 1 << 3,
    kSCNetworkFlagsInterventionRequired = 1 << 4,
    kSCNetworkFlagsIsLocalAddress = 1 << 16,
    kSCNetworkFlagsIsDirect = 1 << 17
};

/* The length counts here, as Linux addresses have none of their own. */
static inline Boolean SCNetworkCheckReachabilityByAddress(const struct sockaddr *address, socklen_t length,
                                                          SCNetworkConnectionFlags *flags)
{
    reach_target *target = flags == NULL ? NULL : reach_create_with_address(address, length);
    Boolean done = target == NULL ? reach_sc_fail(kSCStatusInvalidArgument) : reach_sc_ask(target, flags);

    reach_release(target);
    return done;
}

static inline Boolean SCNetworkCheckReachabilityByName(const char *name, SCNetworkConnectionFlags *flags)
{
    reach_target *target = flags == NULL ? NULL : reach_create_with_name(name);
    Boolean done = target == NULL ? reach_sc_fail(kSCStatusInvalidArgument) : reach_sc_ask(target, flags);

    reach_release(target);
    return done;
}

#ifdef __cplusplus
}
#endif

#endif
