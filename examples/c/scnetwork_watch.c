/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Watching a host as it is written for macOS: a target by name, a callback with a counted context, and a run loop.
 *
 *     macOS:  cc scnetwork_watch.c -framework SystemConfiguration -framework CoreFoundation
 *     Linux:  cc scnetwork_watch.c $(pkg-config --cflags --libs libreach) -pthread
 *
 *     scnetwork_watch HOST [COUNT]     prints the flags at each change, and ends after COUNT of them
 */
#include <SystemConfiguration/SystemConfiguration.h>

#include <stdio.h>
#include <stdlib.h>

struct watch {
    int references;
    const char *host;
    long left; /* 0 is for ever */
};

static const void *watch_retain(const void *info)
{
    ((struct watch *)info)->references++;
    return info;
}

static void watch_release(const void *info)
{
    struct watch *watch = (struct watch *)info;

    if (--watch->references == 0) {
        free(watch);
    }
}

static void changed(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct watch *watch = info;

    (void)target;
    printf("%s: flags 0x%08x%s%s\n", watch->host, (unsigned)flags,
           flags & kSCNetworkReachabilityFlagsReachable ? ", reachable" : ", not reachable",
           flags & kSCNetworkReachabilityFlagsConnectionRequired ? ", connection required" : "");
    fflush(stdout);
    if (watch->left > 0 && --watch->left == 0) {
        CFRunLoopStop(CFRunLoopGetCurrent());
    }
}

int main(int argc, char **argv)
{
    struct watch *watch = calloc(1, sizeof *watch);
    SCNetworkReachabilityContext context = {0, watch, watch_retain, watch_release, NULL};
    SCNetworkReachabilityRef target;

    if (argc < 2 || watch == NULL) {
        fprintf(stderr, "usage: scnetwork_watch HOST [COUNT]\n");
        free(watch);
        return 2;
    }
    watch->references = 1;
    watch->host = argv[1];
    watch->left = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

    target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, argv[1]);
    if (target == NULL || !SCNetworkReachabilitySetCallback(target, changed, &context) ||
        !SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode)) {
        fprintf(stderr, "scnetwork_watch: %s\n", SCErrorString(SCError()));
        if (target != NULL) {
            CFRelease(target);
        }
        watch_release(watch);
        return 2;
    }
    watch_release(watch); /* The target's context has it now. */

    CFRunLoopRun();

    SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode);
    CFRelease(target);
    return 0;
}
