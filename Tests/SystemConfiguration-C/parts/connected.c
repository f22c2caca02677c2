/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The check that has been in so many Objective-C programs, compiled as C and as Objective-C: its body is the one that
 * goes around, with what belongs to BSD in it.
 */
#ifndef REACH_SIN_LEN
#define REACH_SIN_LEN
#endif
#include <SystemConfiguration/SystemConfiguration.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>
#ifdef __OBJC__
#include <objc/objc.h>
#else
typedef signed char BOOL;
#define YES ((BOOL)1)
#define NO  ((BOOL)0)
#endif

static BOOL connectedToNetwork(void)
{
    // Create zero addy
    struct sockaddr_in zeroAddress;
    bzero(&zeroAddress, sizeof(zeroAddress));
    zeroAddress.sin_len = sizeof(zeroAddress);
    zeroAddress.sin_family = AF_INET;

    // Recover reachability flags
    SCNetworkReachabilityRef defaultRouteReachability =
        SCNetworkReachabilityCreateWithAddress(NULL, (struct sockaddr *)&zeroAddress);
    SCNetworkReachabilityFlags flags;

    BOOL didRetrieveFlags = SCNetworkReachabilityGetFlags(defaultRouteReachability, &flags);
    CFRelease(defaultRouteReachability);

    if (!didRetrieveFlags)
    {
        printf("Error. Could not recover network reachability flags\n");
        return 0;
    }

    BOOL isReachable = flags & kSCNetworkFlagsReachable;
    BOOL needsConnection = flags & kSCNetworkFlagsConnectionRequired;
    return (isReachable && !needsConnection) ? YES : NO;
}

int main(void)
{
    puts(connectedToNetwork() ? "online" : "offline");
    return 0;
}
