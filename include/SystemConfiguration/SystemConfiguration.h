/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * SCNetworkReachability and what belongs to it, under Apple's own names, so that C, C++ and Objective-C written for
 * macOS compiles unchanged on Linux, with gcc and clang:
 *
 *     #include <SystemConfiguration/SystemConfiguration.h>
 *     cc program.c $(pkg-config --cflags --libs libreach) -pthread
 *
 * It is header only, over reach.h: nothing of it is exported by the library. docs/coming-from-macos.md says what is the
 * same as on macOS and what differs. The little CoreFoundation that is needed stands in CoreFoundation/CFBase.h beside,
 * and gives way to a real one when the program uses that.
 *
 * Macros to be defined before the first inclusion, on the compiler's command line or in a prefix header:
 *
 *   REACH_SIN_LEN
 *       sin_len and sin6_len, which Linux does not have, are there to be assigned to. They land in bytes that no one
 *       looks at: in sin_zero, and in sin6_flowinfo. With them comes IN_LINKLOCALNETNUM, the network 169.254 by which
 *       such code asks about the local link.
 *   REACH_SA_LEN
 *       The same for sa_len and ss_len. sa_len lands in the last byte of an IPv4 address's sin_zero; do not assign to
 *       it through a pointer to an IPv6 address, of which it would be a part.
 *   REACH_USE_COREFOUNDATION
 *       CoreFoundation is a real one, found further down the include path and linked by you. Targets are real
 *       CoreFoundation objects then. The same in all files of the program.
 *   REACH_NO_DISPATCH
 *       Leaves out SCNetworkReachabilitySetDispatchQueue, although <dispatch/dispatch.h> is there, and the main queue
 *       in the main run loop. The same in all files of the program.
 */
#ifndef REACH_SYSTEMCONFIGURATION_H
#define REACH_SYSTEMCONFIGURATION_H

#include <SystemConfiguration/SCNetwork.h>
#include <SystemConfiguration/SCNetworkReachability.h>

#endif
