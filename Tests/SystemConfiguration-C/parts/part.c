/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * See part.h. PART is the variable's name.
 */
#include <SystemConfiguration/SystemConfiguration.h>

#include "part.h"

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

/* A constant of the file, in whichever language. */
static CFStringRef mode = CFSTR("kCFRunLoopDefaultMode");

static void (*told)(unsigned flags);

static int error(void)
{
    return SCError();
}

static void refuse(void)
{
    (void)SCNetworkReachabilityCreateWithName(NULL, NULL);
}

static const void *current_loop(void)
{
    return CFRunLoopGetCurrent();
}

static const void *main_loop(void)
{
    return CFRunLoopGetMain();
}

static const void *text(const char *bytes)
{
    return CFStringCreateWithCString(NULL, bytes, kCFStringEncodingUTF8);
}

static int texts_equal(const void *one, const char *other)
{
    char bytes[64];

    return CFStringGetCString((CFStringRef)one, bytes, sizeof bytes, kCFStringEncodingUTF8) &&
           strcmp(bytes, other) == 0 && CFGetTypeID(one) == CFGetTypeID(mode);
}

static const void *target(void)
{
    struct sockaddr_in zero;

    memset(&zero, 0, sizeof zero);
    zero.sin_family = AF_INET;
    return SCNetworkReachabilityCreateWithAddress(kCFAllocatorDefault, (const struct sockaddr *)&zero);
}

static int ask(const void *object, unsigned *flags)
{
    return SCNetworkReachabilityGetFlags((SCNetworkReachabilityRef)object, flags);
}

static void callout(SCNetworkReachabilityRef object, SCNetworkReachabilityFlags flags, void *info)
{
    (void)object;
    (void)info;
    told(flags);
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static int schedule(const void *object, const void *loop, void (*function)(unsigned flags))
{
    SCNetworkReachabilityContext context = {0, NULL, NULL, NULL, NULL};

    told = function;
    return SCNetworkReachabilitySetCallback((SCNetworkReachabilityRef)object, callout, &context) &&
           SCNetworkReachabilityScheduleWithRunLoop((SCNetworkReachabilityRef)object, (CFRunLoopRef)(uintptr_t)loop,
                                                    mode);
}

static int unschedule(const void *object, const void *loop)
{
    return SCNetworkReachabilityUnscheduleFromRunLoop((SCNetworkReachabilityRef)object, (CFRunLoopRef)(uintptr_t)loop,
                                                      mode);
}

static void run(void)
{
    CFRunLoopRun();
}

static void release(const void *object)
{
    CFRelease(object);
}

/* A shared library that hides what it can exports this, and the variables of the headers. */
extern const struct part PART __attribute__((visibility("default")));
const struct part PART = {TEXT(PART), error,       refuse, current_loop, main_loop,  text, texts_equal,
                          target,     ask,         schedule, unschedule,   run,        release};
