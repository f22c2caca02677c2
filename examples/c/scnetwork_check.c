/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The check as it is written for macOS: is there a path to the internet, or to the host that is named? It compiles
 * there and here without a change.
 *
 *     macOS:  cc scnetwork_check.c -framework SystemConfiguration -framework CoreFoundation
 *     Linux:  cc scnetwork_check.c $(pkg-config --cflags --libs libreach) -pthread
 *
 *     scnetwork_check [HOST]       exits with 0 when online, 1 when offline, 2 when it cannot tell
 */
#include <SystemConfiguration/SystemConfiguration.h>

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    SCNetworkReachabilityRef target;
    SCNetworkReachabilityFlags flags;
    int online;

    if (argc > 1) {
        target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, argv[1]);
    } else {
        struct sockaddr_in zero;

        memset(&zero, 0, sizeof zero);
#ifdef __APPLE__
        zero.sin_len = sizeof zero;
#endif
        zero.sin_family = AF_INET;
        target = SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, (const struct sockaddr *)&zero);
    }
    if (target == NULL || !SCNetworkReachabilityGetFlags(target, &flags)) {
        fprintf(stderr, "scnetwork_check: %s\n", SCErrorString(SCError()));
        if (target != NULL) {
            CFRelease(target);
        }
        return 2;
    }
    CFRelease(target);
    online = (flags & kSCNetworkReachabilityFlagsReachable) && !(flags & kSCNetworkReachabilityFlagsConnectionRequired);
    printf("%s (flags 0x%08x)\n", online ? "online" : "offline", (unsigned)flags);
    return online ? 0 : 1;
}
