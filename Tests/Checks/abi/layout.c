/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Every number of the interface that a caller's compiled code contains, written out once more: sizes, offsets,
 * constants. Programs that were built against an earlier header go on using the old numbers, so a difference here is a
 * break, and there is nothing to run: it compiles or it does not. The list is checked for completeness against the
 * header.
 */
#include "reach.h"

/* One array declared over and over: legal as long as each declaration gives it the one element. C99 has no other
 * means. */
#define SAME(expression, value) extern char layout_is_as_it_was[(expression) == (value) ? 1 : -1]
#define CONSTANT(name, value) SAME(name, value)
#define FIELD(name, offset, size) \
    SAME(offsetof(reach_path, name), offset); \
    SAME(sizeof(((reach_path *)0)->name), size)

SAME(sizeof(reach_flags), 4);
SAME((reach_flags)-1 > 0, 1);
SAME(sizeof(reach_status), 4);
SAME((reach_status)-1 < 0, 1);
SAME(sizeof(bool), 1);

CONSTANT(REACH_FLAG_TRANSIENT_CONNECTION, 0x1u);
CONSTANT(REACH_FLAG_REACHABLE, 0x2u);
CONSTANT(REACH_FLAG_CONNECTION_REQUIRED, 0x4u);
CONSTANT(REACH_FLAG_CONNECTION_ON_TRAFFIC, 0x8u);
CONSTANT(REACH_FLAG_CONNECTION_AUTOMATIC, 0x8u);
CONSTANT(REACH_FLAG_INTERVENTION_REQUIRED, 0x10u);
CONSTANT(REACH_FLAG_CONNECTION_ON_DEMAND, 0x20u);
CONSTANT(REACH_FLAG_IS_LOCAL_ADDRESS, 0x10000u);
CONSTANT(REACH_FLAG_IS_DIRECT, 0x20000u);
CONSTANT(REACH_FLAG_IS_WWAN, 0x40000u);

CONSTANT(REACH_STATUS_UNKNOWN, -1);
CONSTANT(REACH_STATUS_NOT_REACHABLE, 0);
CONSTANT(REACH_STATUS_VIA_WWAN, 1);
CONSTANT(REACH_STATUS_VIA_WIFI, 2);

CONSTANT(REACH_LINK_NONE, 0);
CONSTANT(REACH_LINK_OTHER, 1);
CONSTANT(REACH_LINK_LOOPBACK, 2);
CONSTANT(REACH_LINK_ETHERNET, 3);
CONSTANT(REACH_LINK_WIFI, 4);
CONSTANT(REACH_LINK_CELLULAR, 5);
CONSTANT(REACH_LINK_PPP, 6);
CONSTANT(REACH_LINK_TUNNEL, 7);

CONSTANT(REACH_REASON_REACHABLE, 0);
CONSTANT(REACH_REASON_NO_ROUTE, 1);
CONSTANT(REACH_REASON_UNREACHABLE, 2);
CONSTANT(REACH_REASON_PROHIBITED, 3);
CONSTANT(REACH_REASON_BLACKHOLE, 4);
CONSTANT(REACH_REASON_NO_CARRIER, 5);
CONSTANT(REACH_REASON_LOWER_LAYER_DOWN, 6);
CONSTANT(REACH_REASON_LINK_DISABLED, 7);
CONSTANT(REACH_REASON_NO_LINK, 8);
CONSTANT(REACH_REASON_NO_SOURCE, 9);
CONSTANT(REACH_REASON_NOT_LOCAL, 10);
CONSTANT(REACH_REASON_DORMANT, 11);
CONSTANT(REACH_REASON_NAME_NOT_FOUND, 12);
CONSTANT(REACH_REASON_RESOLVER_FAILED, 13);
CONSTANT(REACH_REASON_NOT_RESOLVED, 14);

/* The structure may grow at its end; what stands here stays where it is. */
FIELD(flags, 0, 4);
FIELD(reason, 4, 4);
FIELD(interface_index, 8, 4);
FIELD(interface_kind, 12, 4);
FIELD(generation, 16, 8);
FIELD(ipv4_usable, 24, 4);
FIELD(ipv6_usable, 28, 4);
FIELD(interface_name, 32, 16);
FIELD(gateway, 48, 64);
FIELD(source, 112, 64);
FIELD(destination, 176, 64);
SAME(sizeof(reach_path), 240);
