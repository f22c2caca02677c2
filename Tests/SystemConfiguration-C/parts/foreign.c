/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Stands for a real CoreFoundation, linked into the same program: strong definitions of the names that clash if
 * anything can. None of them may ever be called by code that was compiled with the drop-in.
 */
#include <stdlib.h>

#define FOREIGN(name) \
    void name(void); \
    void name(void) \
    { \
        abort(); \
    }

FOREIGN(CFRetain)
FOREIGN(CFRelease)
FOREIGN(CFEqual)
FOREIGN(CFShow)
FOREIGN(CFGetTypeID)
FOREIGN(CFRunLoopGetCurrent)
FOREIGN(CFRunLoopGetMain)
FOREIGN(CFRunLoopRun)
FOREIGN(CFRunLoopRunInMode)
FOREIGN(CFRunLoopStop)
FOREIGN(CFStringCreateWithCString)
FOREIGN(SCError)
FOREIGN(SCNetworkReachabilityCreateWithAddress)
FOREIGN(SCNetworkReachabilityGetFlags)

const void *kCFAllocatorDefault = &kCFAllocatorDefault;
const void *kCFRunLoopDefaultMode = &kCFRunLoopDefaultMode;
