/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * See CFBase.h for what this is and what it is not.
 */
#include <CoreFoundation/CFBase.h>

#ifdef REACH_USE_COREFOUNDATION
#pragma GCC system_header
#include_next <CoreFoundation/CoreFoundation.h>
#elif !defined(REACH_CF_COREFOUNDATION_H)
#define REACH_CF_COREFOUNDATION_H

#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFError.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFString.h>

#endif
