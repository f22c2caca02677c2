/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Time, as run loops measure it and as time stamps are printed. See CFBase.h.
 */
#include <CoreFoundation/CFBase.h>

#ifdef REACH_USE_COREFOUNDATION
#pragma GCC system_header
#include_next <CoreFoundation/CFDate.h>
#elif !defined(REACH_CF_DATE_H)
#define REACH_CF_DATE_H

#include <time.h>

CF_EXTERN_C_BEGIN

typedef double CFTimeInterval;
typedef CFTimeInterval CFAbsoluteTime;

/* Seconds from the first of January 1970 to that of 2001, both in UTC. */
static const CFTimeInterval kCFAbsoluteTimeIntervalSince1970 = 978307200.0;

/* Strictly standard C modes (-std=c99) hide the clocks of <time.h>, which the C library has all the same. */
#ifdef CLOCK_MONOTONIC
#define REACH_CF_CLOCK_REALTIME  CLOCK_REALTIME
#define REACH_CF_CLOCK_MONOTONIC CLOCK_MONOTONIC
#define reach_cf_clock_gettime   clock_gettime
#else
#define REACH_CF_CLOCK_REALTIME  0
#define REACH_CF_CLOCK_MONOTONIC 1
extern int reach_cf_clock_gettime(int clock, struct timespec *now) __asm__("clock_gettime");
#endif

static inline double reach_cf_clock(int clock)
{
    struct timespec now;

    (void)reach_cf_clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline CFAbsoluteTime CFAbsoluteTimeGetCurrent(void)
{
    return reach_cf_clock(REACH_CF_CLOCK_REALTIME) - kCFAbsoluteTimeIntervalSince1970;
}

CF_EXTERN_C_END

#endif
