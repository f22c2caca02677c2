/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What a process that has just started answers, in every state a network can be in. Each situation is a script for the
 * harness and a table of questions with the whole flag word expected of each, the reason, and where something is to be
 * said about them, the link, the gateway and the source of the path. To add one, add a row: nothing else.
 *
 * The expected words are worked out from what the flags mean and what the kernel does with a packet sent in that state.
 * The public addresses are those set aside for documentation, and no packet goes to any of them.
 */
#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The flag words that occur. */
#define OFFLINE 0u
#define ONLINE REACH_FLAG_REACHABLE
#define DIRECT (REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT)
#define OWN (REACH_FLAG_REACHABLE | REACH_FLAG_IS_LOCAL_ADDRESS | REACH_FLAG_IS_DIRECT)
#define TUNNEL (REACH_FLAG_REACHABLE | REACH_FLAG_TRANSIENT_CONNECTION)
#define CELLULAR (TUNNEL | REACH_FLAG_IS_WWAN)
#define WAITING (TUNNEL | REACH_FLAG_CONNECTION_REQUIRED)
#define WAITING_PPP (WAITING | REACH_FLAG_CONNECTION_ON_TRAFFIC)

/* Reasons that are not one number. */
#define ANY_REASON (-1)    /* the families have different reasons, and either may be told */
#define CARRIER_REASON (-2) /* as the link's operational state says: itself without a carrier, or the link below it */

#define YES REACH_REASON_REACHABLE
#define NO_ROUTE REACH_REASON_NO_ROUTE

struct question {
    /*
     * "zero" asks 0.0.0.0 and ::, as addresses and as names, and reach_is_online. "name NAME" asks a name target,
     * "LOCAL > REMOTE" a pair, in which "-" leaves a side out. Everything else is an address.
     */
    const char *about;
    reach_flags flags;
    int reason;
    /* Not looked at when NULL; must be empty when "". */
    const char *link, *gateway, *source;
    int kind; /* a REACH_LINK_, not looked at when 0 */
};

struct situation {
    const char *name;
    const char *script;
    struct question questions[14]; /* ended by one that is about nothing */
};

/* What most situations start from: a cable with an address, and the router behind it. */
#define LAN4 "veth wan0 10.1.0.2/24\n"
#define LAN6 "veth wan0 2001:db8:1::2/64\n"
#define LAN46 "veth wan0 10.1.0.2/24 2001:db8:1::2/64\n"
#define SECOND_LAN46 "veth wan1 10.2.0.2/24 2001:db8:2::2/64\n"
#define DEFAULT4 "route add default via 10.1.0.1\n"
#define DEFAULT6 "route add ::/0 via 2001:db8:1::1\n"
#define PUBLIC4 "198.51.100.9"
#define PUBLIC6 "2001:db8:ffff::9"

static const struct situation situations[] = {
    /* ------------------------------------------------------------------------------------------ the plain ones */
    {
        "nothing configured",
        "",
        {
            { "zero", OFFLINE, NO_ROUTE, "", "", "", 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, "", "", "", 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, "", "", "", 0 },
            { "127.0.0.1", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "::1", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "224.0.0.251", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "255.255.255.255", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "169.254.3.4", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "name host.example", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "loopback only",
        "link set lo up\n",
        {
            { "zero", OFFLINE, NO_ROUTE, "", "", "", 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "127.0.0.1", OWN, YES, "lo", "", "127.0.0.1", REACH_LINK_LOOPBACK },
            { "127.9.8.7", OWN, YES, "lo", "", NULL, REACH_LINK_LOOPBACK },
            { "::1", OWN, YES, "lo", "", "::1", REACH_LINK_LOOPBACK },
            { "name localhost", OWN, YES, "lo", NULL, NULL, REACH_LINK_LOOPBACK },
            { "name LocalHost", OWN, YES, "lo", NULL, NULL, REACH_LINK_LOOPBACK },
            { "name a.localhost", OWN, YES, "lo", NULL, NULL, REACH_LINK_LOOPBACK },
            { "name a.b.localhost.", OWN, YES, "lo", NULL, NULL, REACH_LINK_LOOPBACK },
            { "name localhost.example", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { "name notlocalhost", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "own address",
        "link set lo up\n" LAN46,
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "10.1.0.2", OWN, YES, NULL, "", "10.1.0.2", 0 },
            { "2001:db8:1::2", OWN, YES, NULL, "", "2001:db8:1::2", 0 },
            { "10.1.0.2 > -", OWN, YES, NULL, NULL, NULL, 0 },
            { "2001:db8:1::2 > -", OWN, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "neighbour on the link",
        LAN46,
        {
            { "10.1.0.77", DIRECT, YES, "wan0", "", "10.1.0.2", REACH_LINK_ETHERNET },
            { "2001:db8:1::77", DIRECT, YES, "wan0", "", "2001:db8:1::2", REACH_LINK_ETHERNET },
            { "10.2.0.77", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "2001:db8:2::77", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "default route, IPv4",
        LAN4 DEFAULT4,
        {
            { "zero", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", REACH_LINK_ETHERNET },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", REACH_LINK_ETHERNET },
            { "10.1.0.1", DIRECT, YES, "wan0", "", "10.1.0.2", REACH_LINK_ETHERNET },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "name " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "name host.example", ONLINE, REACH_REASON_NOT_RESOLVED, "wan0", "10.1.0.1", NULL, 0 },
            { "name http://host.example/", ONLINE, REACH_REASON_NOT_RESOLVED, NULL, NULL, NULL, 0 },
        },
    },
    {
        "default route, IPv6",
        LAN6 DEFAULT6,
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", REACH_LINK_ETHERNET },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", REACH_LINK_ETHERNET },
            { "2001:db8:1::1", DIRECT, YES, "wan0", "", "2001:db8:1::2", REACH_LINK_ETHERNET },
            /* Sockets are what Linux programs use, and an IPv4 socket has no way out of here. */
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "name host.example", ONLINE, REACH_REASON_NOT_RESOLVED, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "default route, IPv6, as routers announce it",
        LAN6 "route add ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "default routes of both families",
        LAN46 DEFAULT4 DEFAULT6,
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "default route without a gateway",
        LAN46 "route add default dev wan0\nroute add ::/0 dev wan0\n",
        {
            /* There is no such thing as the internet at large being direct. */
            { "zero", ONLINE, YES, "wan0", "", NULL, 0 },
            { PUBLIC4, DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { PUBLIC6, DIRECT, YES, "wan0", "", "2001:db8:1::2", 0 },
        },
    },
    {
        "IPv4 by way of an IPv6 gateway",
        LAN46 "-4 route add default via inet6 fe80::1 dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "fe80::1", "10.1.0.2", 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "fe80::1", "10.1.0.2", 0 },
        },
    },
    {
        "preferred source",
        LAN4 "address add 10.1.0.3/24 dev wan0\nroute add default via 10.1.0.1 src 10.1.0.3\n",
        {
            { "zero", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.3", 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.3", 0 },
        },
    },
    /* -------------------------------------------------------------------- the internet without a default route */
    {
        "VPN halves, IPv4",
        LAN4 "route add 0.0.0.0/1 via 10.1.0.1\nroute add 128.0.0.0/1 via 10.1.0.1\n",
        {
            { "zero", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "8.8.8.8", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
        },
    },
    {
        "lower half only, IPv4",
        LAN4 "route add 0.0.0.0/1 via 10.1.0.1\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "upper half only, IPv4",
        LAN4 "route add 128.0.0.0/1 via 10.1.0.1\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "VPN halves, IPv6",
        LAN6 "route add ::/1 via 2001:db8:1::1\nroute add 8000::/1 via 2001:db8:1::1\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
        },
    },
    {
        "halves of 2000::/3",
        LAN6 "route add 2000::/4 via 2001:db8:1::1\nroute add 3000::/4 via 2001:db8:1::1\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
        },
    },
    {
        "lower half of 2000::/3 only",
        LAN6 "route add 2000::/4 via 2001:db8:1::1\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "upper half of 2000::/3 only",
        LAN6 "route add 3000::/4 via 2001:db8:1::1\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "full table without a default, IPv4",
        LAN4 "for 1 9 route add #.0.0.0/8 via 10.1.0.1\n"
             "for 11 126 route add #.0.0.0/8 via 10.1.0.1\n"
             "for 128 223 route add #.0.0.0/8 via 10.1.0.1\n",
        {
            { "zero", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "10.9.9.9", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        /* What the regional registries have been given to hand out. */
        "full table without a default, IPv6",
        LAN6 "route add 2001::/16 via 2001:db8:1::1\nroute add 2003::/18 via 2001:db8:1::1\n"
             "route add 2400::/12 via 2001:db8:1::1\nroute add 2410::/12 via 2001:db8:1::1\n"
             "route add 2600::/12 via 2001:db8:1::1\nroute add 2610::/23 via 2001:db8:1::1\n"
             "route add 2620::/23 via 2001:db8:1::1\nroute add 2630::/12 via 2001:db8:1::1\n"
             "route add 2800::/12 via 2001:db8:1::1\nroute add 2a00::/12 via 2001:db8:1::1\n"
             "route add 2a10::/12 via 2001:db8:1::1\nroute add 2c00::/12 via 2001:db8:1::1\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { "fd00::9", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "a few private routes are not the internet",
        LAN46 "route add 10.0.0.0/8 via 10.1.0.1\nroute add 172.16.0.0/12 via 10.1.0.1\n"
              "route add 192.168.0.0/16 via 10.1.0.1\nroute add fc00::/7 via 2001:db8:1::1\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "192.168.9.9", ONLINE, YES, "wan0", "10.1.0.1", NULL, 0 },
            { "fd00::9", ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
        },
    },
    /* ------------------------------------------------------------------------------------------ tables and rules */
    {
        "default route in a table that no rule names",
        LAN46 "route add default via 10.1.0.1 table 100\nroute add ::/0 via 2001:db8:1::1 table 100\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "name host.example", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "default route in a table that a rule names, IPv4",
        LAN46 "route add default via 10.1.0.1 table 100\nroute add ::/0 via 2001:db8:1::1 table 100\n"
              "rule add lookup 100\n",
        {
            { "zero", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "default route in a table that a rule names, IPv6",
        LAN46 "route add default via 10.1.0.1 table 100\nroute add ::/0 via 2001:db8:1::1 table 100\n"
              "-6 rule add lookup 100\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "default route for a firewall mark only",
        LAN46 "route add default via 10.1.0.1 table 100\nroute add ::/0 via 2001:db8:1::1 table 100\n"
              "rule add fwmark 7 lookup 100\n-6 rule add fwmark 7 lookup 100\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        /* The user of the process counts: inside the namespace it is 0. */
        "default route for this user only",
        LAN46 "route add default via 10.1.0.1 table 100\nroute add ::/0 via 2001:db8:1::1 table 100\n"
              "rule add uidrange 0-0 lookup 100\n-6 rule add uidrange 0-0 lookup 100\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
        },
    },
    {
        "default route for packets that come in by a link only",
        LAN46 "route add default via 10.1.0.1 table 100\nroute add ::/0 via 2001:db8:1::1 table 100\n"
              "rule add iif wan0 lookup 100\n-6 rule add iif wan0 lookup 100\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "rules as wg-quick makes them",
        LAN46 DEFAULT4 DEFAULT6
        "tun vpn0\nlink set vpn0 up\naddress add 10.9.0.2/32 dev vpn0\naddress add fd09::2/128 dev vpn0 nodad\n"
        "route add default dev vpn0 table 51820\nroute add ::/0 dev vpn0 table 51820\n"
        "rule add not fwmark 51820 lookup 51820\nrule add lookup main suppress_prefixlength 0\n"
        "-6 rule add not fwmark 51820 lookup 51820\n-6 rule add lookup main suppress_prefixlength 0\n",
        {
            { "zero", TUNNEL, YES, "vpn0", "", NULL, REACH_LINK_TUNNEL },
            { PUBLIC4, TUNNEL, YES, "vpn0", "", "10.9.0.2", REACH_LINK_TUNNEL },
            { PUBLIC6, TUNNEL, YES, "vpn0", "", "fd09::2", REACH_LINK_TUNNEL },
            { "10.1.0.77", DIRECT, YES, "wan0", "", "10.1.0.2", REACH_LINK_ETHERNET },
        },
    },
    {
        "rule that prohibits",
        "link set lo up\n" LAN46 DEFAULT4 DEFAULT6 "rule add pref 100 prohibit\n-6 rule add pref 100 prohibit\n",
        {
            { "zero", OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { "10.1.0.77", OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { "10.1.0.2", OWN, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "rule that prohibits, IPv4 only",
        LAN46 DEFAULT4 DEFAULT6 "rule add pref 100 prohibit\n",
        {
            { "zero", ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "rule that says unreachable",
        LAN46 DEFAULT4 DEFAULT6 "rule add pref 100 unreachable\n-6 rule add pref 100 unreachable\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "rule that is a black hole",
        LAN46 DEFAULT4 DEFAULT6 "rule add pref 100 blackhole\n-6 rule add pref 100 blackhole\n",
        {
            { "zero", OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "rule that prohibits one destination",
        LAN46 DEFAULT4 DEFAULT6 "rule add pref 100 to " PUBLIC4 " prohibit\n"
                                "-6 rule add pref 100 to " PUBLIC6 " prohibit\n",
        {
            { "zero", ONLINE, YES, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { "203.0.113.9", ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    /* ---------------------------------------------------------------------------------- routes that say no */
    {
        "unreachable at a better metric than a good default",
        LAN46 "route add default via 10.1.0.1 metric 50\nroute add unreachable default metric 5\n"
              "route add ::/0 via 2001:db8:1::1 metric 50\nroute add unreachable ::/0 metric 5\n",
        {
            { "zero", OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
            { "10.1.0.77", DIRECT, YES, NULL, NULL, NULL, 0 },
            { "2001:db8:1::77", DIRECT, YES, NULL, NULL, NULL, 0 },
            { "name host.example", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "prohibit at a better metric than a good default",
        LAN46 "route add default via 10.1.0.1 metric 50\nroute add prohibit default metric 5\n"
              "route add ::/0 via 2001:db8:1::1 metric 50\nroute add prohibit ::/0 metric 5\n",
        {
            { "zero", OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
        },
    },
    {
        "blackhole at a better metric than a good default",
        LAN46 "route add default via 10.1.0.1 metric 50\nroute add blackhole default metric 5\n"
              "route add ::/0 via 2001:db8:1::1 metric 50\nroute add blackhole ::/0 metric 5\n",
        {
            { "zero", OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "throw at a better metric than a good default",
        LAN46 "route add default via 10.1.0.1 metric 50\nroute add throw default metric 5\n"
              "route add ::/0 via 2001:db8:1::1 metric 50\nroute add throw ::/0 metric 5\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "unreachable at a worse metric than a good default",
        LAN46 "route add default via 10.1.0.1 metric 5\nroute add unreachable default metric 50\n"
              "route add ::/0 via 2001:db8:1::1 metric 5\nroute add unreachable ::/0 metric 50\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "unreachable default alone",
        LAN46 "route add unreachable default\nroute add unreachable ::/0\n",
        {
            { "zero", OFFLINE, REACH_REASON_UNREACHABLE, "", "", "", 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_UNREACHABLE, "", "", "", 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_UNREACHABLE, NULL, "", "", 0 },
        },
    },
    {
        "unreachable for one host",
        LAN46 DEFAULT4 DEFAULT6 "route add unreachable " PUBLIC4 "\nroute add unreachable " PUBLIC6 "\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
            { "198.51.100.8", ONLINE, YES, NULL, NULL, NULL, 0 },
            { "2001:db8:ffff::8", ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "prohibit for one host",
        LAN46 DEFAULT4 DEFAULT6 "route add prohibit " PUBLIC4 "\nroute add prohibit " PUBLIC6 "\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { "198.51.100.8", ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "blackhole for one host",
        LAN46 DEFAULT4 DEFAULT6 "route add blackhole " PUBLIC4 "\nroute add blackhole " PUBLIC6 "\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { "198.51.100.8", ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "throw for one host",
        LAN46 DEFAULT4 DEFAULT6 "route add throw " PUBLIC4 "\nroute add throw " PUBLIC6 "\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "198.51.100.8", ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "a way to one host under an unreachable default",
        LAN46 "route add unreachable default\nroute add " PUBLIC4 " via 10.1.0.1\n"
              "route add unreachable ::/0\nroute add " PUBLIC6 " via 2001:db8:1::1\n",
        {
            { "zero", OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { "198.51.100.8", OFFLINE, REACH_REASON_UNREACHABLE, NULL, NULL, NULL, 0 },
        },
    },
    /* --------------------------------------------------------------------------------------- the state of links */
    {
        "carrier lost",
        LAN46 DEFAULT4 DEFAULT6 "pull wan0\n",
        {
            { "zero", OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { "10.1.0.77", OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { "2001:db8:1::77", OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { "name host.example", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            /* An address of one's own needs no carrier. */
            { "10.1.0.2", OWN, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "carrier lost and found",
        LAN46 DEFAULT4 DEFAULT6 "pull wan0\nplug wan0\nusable 2001:db8:1::2\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", NULL, NULL, 0 },
            { "10.1.0.77", DIRECT, YES, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "admin down",
        LAN46 DEFAULT4 DEFAULT6 "link set wan0 down\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "10.1.0.77", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "2001:db8:1::77", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "admin down and up again: the default routes are gone",
        LAN46 DEFAULT4 DEFAULT6 "link set wan0 down\nlink set wan0 up\nrunning wan0\n"
              "address replace 2001:db8:1::2/64 dev wan0 nodad\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "10.1.0.77", DIRECT, YES, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "dead link preferred to a good one",
        LAN46 SECOND_LAN46
        "route add default via 10.1.0.1 metric 10\nroute add default via 10.2.0.1 metric 50\n"
        "route add ::/0 via 2001:db8:1::1 metric 10\nroute add ::/0 via 2001:db8:2::1 metric 50\npull wan0\n",
        {
            { PUBLIC4, OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { "zero", OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { "10.2.0.77", DIRECT, YES, "wan1", NULL, NULL, 0 },
        },
    },
    {
        "dead link passed over, where the kernel is told to",
        LAN46 SECOND_LAN46
        "sysctl net/ipv4/conf/wan0/ignore_routes_with_linkdown 1\n"
        "sysctl net/ipv6/conf/wan0/ignore_routes_with_linkdown 1\n"
        "route add default via 10.1.0.1 metric 10\nroute add default via 10.2.0.1 metric 50\n"
        "route add ::/0 via 2001:db8:1::1 metric 10\nroute add ::/0 via 2001:db8:2::1 metric 50\npull wan0\n",
        {
            { PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            { "zero", ONLINE, YES, "wan1", NULL, NULL, 0 },
        },
    },
    {
        "lower layer down",
        "veth cable0\nlink add link cable0 name wan0 type macvlan mode bridge\nlink set dev wan0 addrgenmode none\n"
        "link set wan0 up\nrunning wan0\naddress add 10.1.0.2/24 dev wan0\n"
        "address add 2001:db8:1::2/64 dev wan0 nodad\n"
        DEFAULT4 DEFAULT6 "pull cable0\nstopped wan0\n",
        {
            { "zero", OFFLINE, REACH_REASON_LOWER_LAYER_DOWN, "wan0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_LOWER_LAYER_DOWN, "wan0", NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_LOWER_LAYER_DOWN, "wan0", NULL, NULL, 0 },
            { "10.1.0.77", OFFLINE, REACH_REASON_LOWER_LAYER_DOWN, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "dormant",
        "link add name wan0 type veth peer name wan0-far\nlink set dev wan0 addrgenmode none\n"
        "link set dev wan0-far addrgenmode none\nlink set wan0 mode dormant\nlink set wan0-far up\nlink set wan0 up\n"
        "address add 10.1.0.2/24 dev wan0\naddress add 2001:db8:1::2/64 dev wan0 nodad\n" DEFAULT4 DEFAULT6,
        {
            { "zero", WAITING, REACH_REASON_DORMANT, "wan0", NULL, NULL, 0 },
            { PUBLIC4, WAITING, REACH_REASON_DORMANT, "wan0", "10.1.0.1", NULL, 0 },
            { PUBLIC6, WAITING, REACH_REASON_DORMANT, "wan0", "2001:db8:1::1", NULL, 0 },
            { "name host.example", WAITING, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "dormant no longer",
        "link add name wan0 type veth peer name wan0-far\nlink set dev wan0 addrgenmode none\n"
        "link set dev wan0-far addrgenmode none\nlink set wan0 mode dormant\nlink set wan0-far up\nlink set wan0 up\n"
        "address add 10.1.0.2/24 dev wan0\naddress add 2001:db8:1::2/64 dev wan0 nodad\n" DEFAULT4 DEFAULT6
        "link set wan0 mode default\nlink set wan0 state up\nrunning wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "dormant on one family's link, up on the other's",
        "link add name wan0 type veth peer name wan0-far\nlink set dev wan0 addrgenmode none\n"
        "link set dev wan0-far addrgenmode none\nlink set wan0 mode dormant\nlink set wan0-far up\nlink set wan0 up\n"
        "address add 10.1.0.2/24 dev wan0\n" DEFAULT4
        "veth wan1 2001:db8:2::2/64\nroute add ::/0 via 2001:db8:2::1\n",
        {
            /* Online ranks before a connection that is required. */
            { "zero", ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            { PUBLIC4, WAITING, REACH_REASON_DORMANT, "wan0", NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan1", NULL, NULL, 0 },
        },
    },
    /* ------------------------------------------------------------------------------------------ several next hops */
    {
        "multipath, both alive",
        LAN46 SECOND_LAN46
        "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1\n"
        "route add ::/0 nexthop via 2001:db8:1::1 dev wan0 nexthop via 2001:db8:2::1 dev wan1\n",
        {
            { "zero", ONLINE, YES, NULL, NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, NULL, NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "multipath, the first dead",
        LAN46 SECOND_LAN46
        "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1\n"
        "route add ::/0 nexthop via 2001:db8:1::1 dev wan0 nexthop via 2001:db8:2::1 dev wan1\npull wan0\n",
        {
            { "zero", ONLINE, YES, "wan1", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            /* The other way is none for who asks about this link. */
            { PUBLIC6 "%wan0", OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { PUBLIC6 "%wan1", ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
        },
    },
    {
        "multipath, the second dead",
        LAN46 SECOND_LAN46
        "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1\n"
        "route add ::/0 nexthop via 2001:db8:1::1 dev wan0 nexthop via 2001:db8:2::1 dev wan1\npull wan1\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
        },
    },
    {
        "multipath, the second admin down",
        LAN46 SECOND_LAN46
        "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1\n"
        "route add ::/0 nexthop via 2001:db8:1::1 dev wan0 nexthop via 2001:db8:2::1 dev wan1\nlink set wan1 down\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
        },
    },
    {
        "multipath, both dead",
        LAN46 SECOND_LAN46
        "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1\n"
        "route add ::/0 nexthop via 2001:db8:1::1 dev wan0 nexthop via 2001:db8:2::1 dev wan1\npull wan0\npull wan1\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "multipath, a dead cable and a tunnel",
        LAN4 "tun vpn0\nlink set vpn0 up\naddress add 10.9.0.2/32 dev vpn0\n"
             "route add default nexthop via 10.1.0.1 dev wan0 nexthop dev vpn0\npull wan0\n",
        {
            { "zero", TUNNEL, YES, "vpn0", "", NULL, REACH_LINK_TUNNEL },
            { PUBLIC4, TUNNEL, YES, "vpn0", "", NULL, REACH_LINK_TUNNEL },
        },
    },
    {
        "two default routers, IPv6",
        LAN6 "route add ::/0 via fe80::1 dev wan0\nroute append ::/0 via fe80::2 dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "two default routers, IPv6, one removed",
        LAN6 "route add ::/0 via fe80::1 dev wan0\nroute append ::/0 via fe80::2 dev wan0\n"
             "route del ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "fe80::2", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "fe80::2", NULL, 0 },
        },
    },
    {
        "two default routers, IPv6, both removed",
        LAN6 "route add ::/0 via fe80::1 dev wan0\nroute append ::/0 via fe80::2 dev wan0\n"
             "route del ::/0 via fe80::1 dev wan0\nroute del ::/0 via fe80::2 dev wan0\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    /* --------------------------------------------------------------------------------------------- nexthop objects */
    {
        "nexthop object",
        LAN46 "nexthop add id 4 via 10.1.0.1 dev wan0\nroute add default nhid 4\n"
              "nexthop add id 6 via 2001:db8:1::1 dev wan0\nroute add ::/0 nhid 6\n",
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "nexthop object, deleted",
        LAN46 "nexthop add id 4 via 10.1.0.1 dev wan0\nroute add default nhid 4\n"
              "nexthop add id 6 via 2001:db8:1::1 dev wan0\nroute add ::/0 nhid 6\nnexthop del id 4\n"
              "nexthop del id 6\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "nexthop object, carrier lost",
        LAN46 "nexthop add id 4 via 10.1.0.1 dev wan0\nroute add default nhid 4\n"
              "nexthop add id 6 via 2001:db8:1::1 dev wan0\nroute add ::/0 nhid 6\npull wan0\n",
        {
            /* Unlike an ordinary route, one by a nexthop object does not outlive the carrier. */
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "nexthop object that is a black hole",
        "link set lo up\n" LAN46 "nexthop add id 4 blackhole\nroute add default nhid 4\n"
              "-6 nexthop add id 6 blackhole\nroute add ::/0 nhid 6\n",
        {
            { "zero", OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_BLACKHOLE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "nexthop group, one dead",
        LAN46 SECOND_LAN46 "nexthop add id 41 via 10.1.0.1 dev wan0\nnexthop add id 42 via 10.2.0.1 dev wan1\n"
                           "nexthop add id 4 group 41/42\nroute add default nhid 4\n"
                           "nexthop add id 61 via 2001:db8:1::1 dev wan0\n"
                           "nexthop add id 62 via 2001:db8:2::1 dev wan1\n"
                           "nexthop add id 6 group 61/62\nroute add ::/0 nhid 6\npull wan0\n",
        {
            { "zero", ONLINE, YES, "wan1", NULL, NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { PUBLIC6, ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
        },
    },
    {
        "nexthop group, one deleted",
        LAN46 SECOND_LAN46 "nexthop add id 41 via 10.1.0.1 dev wan0\nnexthop add id 42 via 10.2.0.1 dev wan1\n"
                           "nexthop add id 4 group 41/42\nroute add default nhid 4\nnexthop del id 41\n",
        {
            { "zero", ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
        },
    },
    {
        "nexthop group, both dead",
        LAN46 SECOND_LAN46 "nexthop add id 41 via 10.1.0.1 dev wan0\nnexthop add id 42 via 10.2.0.1 dev wan1\n"
                           "nexthop add id 4 group 41/42\nroute add default nhid 4\n"
                           "nexthop add id 61 via 2001:db8:1::1 dev wan0\n"
                           "nexthop add id 62 via 2001:db8:2::1 dev wan1\n"
                           "nexthop add id 6 group 61/62\nroute add ::/0 nhid 6\npull wan0\npull wan1\n",
        {
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    /* ------------------------------------------------------------------------------------------------- the source */
    {
        "default route, but no address anywhere, IPv4",
        "link set lo up\nveth wan0\nroute add default dev wan0\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_NO_SOURCE, "wan0", "", "", 0 },
        },
    },
    {
        "default route, the address is on another link",
        "veth wan0\nveth wan1 10.2.0.2/24\nroute add default dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "", "10.2.0.2", 0 },
            { PUBLIC4, DIRECT, YES, "wan0", "", "10.2.0.2", 0 },
        },
    },
    {
        "the last address removed",
        LAN46 DEFAULT4 DEFAULT6 "address del 10.1.0.2/24 dev wan0\naddress del 2001:db8:1::2/64 dev wan0\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "169.254/16 as the only source",
        "veth wan0 169.254.7.8/16\nroute add default dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "", "169.254.7.8", 0 },
            { PUBLIC4, DIRECT, YES, "wan0", "", "169.254.7.8", 0 },
            { "169.254.1.2", DIRECT, YES, "wan0", "", "169.254.7.8", 0 },
        },
    },
    {
        "IPv6 default, but only a link-local address",
        "veth wan0 fe80::5/64\nroute add ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_NO_SOURCE, "wan0", NULL, NULL, 0 },
            { "fe80::77%wan0", DIRECT, YES, "wan0", "", "fe80::5", 0 },
        },
    },
    {
        "IPv6 default, no address at all",
        "veth wan0\nroute add ::/0 dev wan0\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_NO_SOURCE, "wan0", NULL, NULL, 0 },
        },
    },
    {
        /* The kernel takes ::1 as the source when there is nothing else, but such a packet may not leave. */
        "IPv6 default, no address but the loopback's",
        "link set lo up\nveth wan0\nroute add ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_NO_SOURCE, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "IPv6 default, the address is tentative",
        "veth wan0 fe80::5/64\nsysctl net/ipv6/conf/wan0/dad_transmits 600\naddress add 2001:db8:1::2/64 dev wan0\n"
        "route add ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_NO_SOURCE, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "IPv6 default, the address after duplicate detection",
        "veth wan0 fe80::5/64\naddress add 2001:db8:1::2/64 dev wan0\nroute add ::/0 via fe80::1 dev wan0\n"
        "usable 2001:db8:1::2\n",
        {
            { "zero", ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "IPv6 default, the address is a duplicate",
        "veth wan0 fe80::5/64\npeer address add 2001:db8:1::2/64 dev wan0-far nodad\n"
        "address add 2001:db8:1::2/64 dev wan0\nroute add ::/0 via fe80::1 dev wan0\nfailed 2001:db8:1::2\n",
        {
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_NO_SOURCE, "wan0", NULL, NULL, 0 },
        },
    },
    {
        "IPv6 default, the address is deprecated",
        "veth wan0 fe80::5/64\naddress add 2001:db8:1::2/64 dev wan0 nodad preferred_lft 0\n"
        "route add ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "IPv6 default, only a unique local address",
        "veth wan0 fe80::5/64 fd00:1::2/64\nroute add ::/0 via fe80::1 dev wan0\n",
        {
            { "zero", ONLINE, YES, "wan0", "fe80::1", "fd00:1::2", 0 },
            { PUBLIC6, ONLINE, YES, "wan0", "fe80::1", "fd00:1::2", 0 },
        },
    },
    /* -------------------------------------------------------------------------------------------- kinds of links */
    {
        "tun",
        "tun tun0\nlink set tun0 up\naddress add 10.9.0.2 peer 10.9.0.1 dev tun0\n"
        "address add fd09::2/64 dev tun0 nodad\n"
        "route add default dev tun0\nroute add ::/0 dev tun0\n",
        {
            { "zero", TUNNEL, YES, "tun0", "", NULL, REACH_LINK_TUNNEL },
            { PUBLIC4, TUNNEL, YES, "tun0", "", "10.9.0.2", REACH_LINK_TUNNEL },
            { PUBLIC6, TUNNEL, YES, "tun0", "", "fd09::2", REACH_LINK_TUNNEL },
            { "10.9.0.1", TUNNEL, YES, "tun0", "", "10.9.0.2", REACH_LINK_TUNNEL },
            { "fd09::1", TUNNEL, YES, "tun0", "", "fd09::2", REACH_LINK_TUNNEL },
            { "10.9.0.2", OWN, YES, NULL, NULL, NULL, 0 },
            { "name host.example", TUNNEL, REACH_REASON_NOT_RESOLVED, "tun0", NULL, NULL, 0 },
        },
    },
    {
        "tun with a gateway",
        "tun tun0\nlink set tun0 up\naddress add 10.9.0.2/24 dev tun0\nroute add default via 10.9.0.1\n",
        {
            { "zero", TUNNEL, YES, "tun0", "10.9.0.1", NULL, REACH_LINK_TUNNEL },
            { PUBLIC4, TUNNEL, YES, "tun0", "10.9.0.1", "10.9.0.2", REACH_LINK_TUNNEL },
            { "10.9.0.77", TUNNEL, YES, "tun0", "", NULL, REACH_LINK_TUNNEL },
        },
    },
    {
        "tun that nobody holds open",
        /* The first link only shows that tun links may be made. */
        "tun any0\nclose any0\ntuntap add dev tun0 mode tun\nlink set dev tun0 addrgenmode none\nlink set tun0 up\n"
        "address add 10.9.0.2/24 dev tun0\nroute add default via 10.9.0.1\nstopped tun0\n",
        {
            { "zero", OFFLINE, REACH_REASON_NO_CARRIER, "tun0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_NO_CARRIER, "tun0", NULL, NULL, 0 },
        },
    },
    {
        "PPP",
        "tun ppp0 512\nlink set ppp0 up\naddress add 10.9.0.2 peer 10.9.0.1 dev ppp0\n"
        "address add fd09::2/64 dev ppp0 nodad\n"
        "route add default dev ppp0\nroute add ::/0 dev ppp0\n",
        {
            { "zero", TUNNEL, YES, "ppp0", "", NULL, REACH_LINK_PPP },
            { PUBLIC4, TUNNEL, YES, "ppp0", "", "10.9.0.2", REACH_LINK_PPP },
            { PUBLIC6, TUNNEL, YES, "ppp0", "", "fd09::2", REACH_LINK_PPP },
            { "10.9.0.1", TUNNEL, YES, "ppp0", "", "10.9.0.2", REACH_LINK_PPP },
        },
    },
    {
        "PPP that dials on demand",
        "tun ppp0 512\nlink set ppp0 mode dormant\nlink set ppp0 up\nlink set ppp0 state dormant\nstopped ppp0\n"
        "address add 10.9.0.2 peer 10.9.0.1 dev ppp0\n"
        "address add fd09::2/64 dev ppp0 nodad\nroute add default dev ppp0\nroute add ::/0 dev ppp0\n",
        {
            { "zero", WAITING_PPP, REACH_REASON_DORMANT, "ppp0", "", NULL, REACH_LINK_PPP },
            { PUBLIC4, WAITING_PPP, REACH_REASON_DORMANT, "ppp0", "", NULL, REACH_LINK_PPP },
            { PUBLIC6, WAITING_PPP, REACH_REASON_DORMANT, "ppp0", "", NULL, REACH_LINK_PPP },
        },
    },
    {
        "cellular",
        "tun modem0 519\nlink set modem0 up\naddress add 10.9.0.2/30 dev modem0\n"
        "address add 2001:db8:9::2/64 dev modem0 nodad\n"
        "route add default dev modem0\nroute add ::/0 dev modem0\n",
        {
            { "zero", CELLULAR, YES, "modem0", "", NULL, REACH_LINK_CELLULAR },
            { PUBLIC4, CELLULAR, YES, "modem0", "", "10.9.0.2", REACH_LINK_CELLULAR },
            { PUBLIC6, CELLULAR, YES, "modem0", "", "2001:db8:9::2", REACH_LINK_CELLULAR },
            { "name host.example", CELLULAR, REACH_REASON_NOT_RESOLVED, "modem0", NULL, NULL, 0 },
        },
    },
    {
        "tap",
        "tap tap0\nlink set tap0 up\nrunning tap0\naddress add 10.1.0.2/24 dev tap0\n" DEFAULT4,
        {
            { "zero", ONLINE, YES, "tap0", "10.1.0.1", NULL, REACH_LINK_ETHERNET },
            { PUBLIC4, ONLINE, YES, "tap0", "10.1.0.1", "10.1.0.2", REACH_LINK_ETHERNET },
            { "10.1.0.77", DIRECT, YES, "tap0", "", "10.1.0.2", REACH_LINK_ETHERNET },
        },
    },
    {
        "links whose names lie",
        "veth wwan0 10.1.0.2/24\nveth ppp0 10.2.0.2/24\nveth tun0 10.3.0.2/24\nveth wlan0 10.4.0.2/24\n"
        "veth wg0 10.5.0.2/24\n"
        "tun eth0\nlink set eth0 up\naddress add 10.6.0.2/24 dev eth0\nlink set lo name en0\n"
        "route add default via 10.1.0.1\n",
        {
            { "zero", ONLINE, YES, "wwan0", "10.1.0.1", NULL, REACH_LINK_ETHERNET },
            { PUBLIC4, ONLINE, YES, "wwan0", "10.1.0.1", NULL, REACH_LINK_ETHERNET },
            { "10.1.0.77", DIRECT, YES, "wwan0", "", NULL, REACH_LINK_ETHERNET },
            { "10.2.0.77", DIRECT, YES, "ppp0", "", NULL, REACH_LINK_ETHERNET },
            { "10.3.0.77", DIRECT, YES, "tun0", "", NULL, REACH_LINK_ETHERNET },
            { "10.4.0.77", DIRECT, YES, "wlan0", "", NULL, REACH_LINK_ETHERNET },
            { "10.5.0.77", DIRECT, YES, "wg0", "", NULL, REACH_LINK_ETHERNET },
            { "10.6.0.77", TUNNEL, YES, "eth0", "", NULL, REACH_LINK_TUNNEL },
        },
    },
    {
        "cellular and cable, the cable preferred",
        "tun modem0 519\nlink set modem0 up\naddress add 10.9.0.2/30 dev modem0\n"
        "route add default dev modem0 metric 700\n"
        LAN4 "route add default via 10.1.0.1 metric 100\n",
        {
            { "zero", ONLINE, YES, "wan0", "10.1.0.1", NULL, REACH_LINK_ETHERNET },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", NULL, REACH_LINK_ETHERNET },
            { "10.9.0.1", CELLULAR, YES, "modem0", "", NULL, REACH_LINK_CELLULAR },
        },
    },
    {
        "bridge",
        "veth port0\nlink add name br0 type bridge\nlink set dev br0 addrgenmode none\nlink set port0 master br0\n"
        "link set br0 up\nrunning br0\naddress add 10.1.0.2/24 dev br0\naddress add 2001:db8:1::2/64 dev br0 nodad\n"
        DEFAULT4 DEFAULT6,
        {
            { "zero", ONLINE, YES, "br0", NULL, NULL, REACH_LINK_ETHERNET },
            { PUBLIC4, ONLINE, YES, "br0", "10.1.0.1", "10.1.0.2", REACH_LINK_ETHERNET },
            { PUBLIC6, ONLINE, YES, "br0", "2001:db8:1::1", "2001:db8:1::2", REACH_LINK_ETHERNET },
            { "10.1.0.77", DIRECT, YES, "br0", "", NULL, REACH_LINK_ETHERNET },
        },
    },
    {
        "bridge whose only port lost its carrier",
        "veth port0\nlink add name br0 type bridge\nlink set dev br0 addrgenmode none\nlink set port0 master br0\n"
        "link set br0 up\nrunning br0\npull port0\nstopped br0\n"
        "address add 10.1.0.2/24 dev br0\naddress add 2001:db8:1::2/64 dev br0 nodad\n" DEFAULT4 DEFAULT6,
        {
            { "zero", OFFLINE, REACH_REASON_NO_CARRIER, "br0", NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, REACH_REASON_NO_CARRIER, "br0", NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, REACH_REASON_NO_CARRIER, "br0", NULL, NULL, 0 },
            { "10.1.0.77", OFFLINE, REACH_REASON_NO_CARRIER, "br0", NULL, NULL, 0 },
        },
    },
    {
        "macvlan",
        "veth cable0\nlink add link cable0 name wan0 type macvlan mode bridge\nlink set dev wan0 addrgenmode none\n"
        "link set wan0 up\nrunning wan0\naddress add 10.1.0.2/24 dev wan0\n"
        "address add 2001:db8:1::2/64 dev wan0 nodad\n"
        DEFAULT4 DEFAULT6,
        {
            { "zero", ONLINE, YES, "wan0", NULL, NULL, REACH_LINK_ETHERNET },
            { PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", REACH_LINK_ETHERNET },
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", REACH_LINK_ETHERNET },
            { "10.1.0.77", DIRECT, YES, "wan0", "", NULL, REACH_LINK_ETHERNET },
        },
    },
    /* ---------------------------------------------------------------------------------------- special addresses */
    {
        "multicast and broadcast",
        LAN46 DEFAULT4 DEFAULT6,
        {
            /* The kernel sends these by the default route's link, but never to its gateway. */
            { "224.0.0.251", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "239.1.2.3", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "255.255.255.255", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "10.1.0.255", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "ff0e::1234", DIRECT, YES, "wan0", "", "2001:db8:1::2", 0 },
            { "ff02::fb%wan0", DIRECT, YES, "wan0", "", NULL, 0 },
        },
    },
    {
        "multicast by a route of its own",
        LAN4 "route add 224.0.0.0/4 dev wan0\n",
        {
            { "239.1.2.3", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "multicast over a tunnel",
        "tun tun0\nlink set tun0 up\naddress add 10.9.0.2/24 dev tun0\nroute add default via 10.9.0.1\n",
        {
            { "239.1.2.3", TUNNEL, YES, "tun0", "", "10.9.0.2", 0 },
        },
    },
    {
        "IPv4-mapped IPv6 addresses",
        "link set lo up\n" LAN4 DEFAULT4,
        {
            { "::ffff:198.51.100.9", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "::ffff:10.1.0.77", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "::ffff:10.1.0.2", OWN, YES, NULL, NULL, NULL, 0 },
            { "::ffff:127.0.0.1", OWN, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "IPv4-mapped IPv6 addresses on a host that has IPv6 only",
        LAN6 DEFAULT6,
        {
            { "::ffff:198.51.100.9", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "name ::ffff:198.51.100.9", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "link-local addresses with a scope",
        "veth wan0 fe80::5/64\nveth wan1 fe80::6/64\nveth wan2\n",
        {
            { "fe80::77%wan0", DIRECT, YES, "wan0", "", "fe80::5", 0 },
            { "fe80::77%wan1", DIRECT, YES, "wan1", "", "fe80::6", 0 },
            { "fe80::77%wan2", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { "name fe80::77%wan1", DIRECT, YES, "wan1", "", "fe80::6", 0 },
            { "fe80::5%wan0", OWN, YES, NULL, NULL, NULL, 0 },
            { "fe80::77%9999", OFFLINE, REACH_REASON_NO_LINK, "", "", "", 0 },
        },
    },
    {
        "link-local addresses with the scope of a dead link",
        "veth wan0 fe80::5/64\nveth wan1 fe80::6/64\npull wan0\nlink set wan1 down\n",
        {
            { "fe80::77%wan0", OFFLINE, CARRIER_REASON, "wan0", NULL, NULL, 0 },
            { "fe80::77%wan1", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "169.254/16 by way of a gateway",
        LAN4 DEFAULT4,
        {
            { "169.254.1.2", DIRECT, YES, "wan0", NULL, "10.1.0.2", 0 },
            { "169.254.0.0", DIRECT, YES, "wan0", NULL, "10.1.0.2", 0 },
            { "169.253.1.2", ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
        },
    },
    {
        "169.254/16 by way of a tunnel",
        "tun tun0\nlink set tun0 up\naddress add 10.9.0.2/24 dev tun0\nroute add default via 10.9.0.1\n",
        {
            { "169.254.1.2", TUNNEL, YES, "tun0", NULL, NULL, 0 },
        },
    },
    {
        "169.254/16 on the link, IPv6 host otherwise",
        "veth wan0 169.254.7.8/16 2001:db8:1::2/64\n" DEFAULT6,
        {
            { "169.254.1.2", DIRECT, YES, "wan0", "", "169.254.7.8", 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "zero", ONLINE, YES, NULL, NULL, NULL, 0 },
        },
    },
    /* ------------------------------------------------------------------------------------------------------ pairs */
    {
        "pairs",
        "link set lo up\n" LAN46 DEFAULT4 DEFAULT6,
        {
            { "10.1.0.2 > " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "2001:db8:1::2 > " PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { "10.1.0.2 > 10.1.0.77", DIRECT, YES, "wan0", "", "10.1.0.2", 0 },
            { "10.1.0.2 > -", OWN, YES, NULL, NULL, NULL, 0 },
            { "- > " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "10.1.0.2 > 10.1.0.2", OWN, YES, NULL, NULL, NULL, 0 },
            { "10.1.0.99 > " PUBLIC4, OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
            { "2001:db8:1::99 > " PUBLIC6, OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
            { "10.1.0.99 > -", OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
            { "10.1.0.99 > 127.0.0.1", OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs with 127/8",
        "link set lo up\n" LAN46 DEFAULT4 DEFAULT6,
        {
            { "127.0.0.1 > " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "127.0.0.1 > 10.1.0.77", DIRECT, YES, "wan0", NULL, NULL, 0 },
            { "127.0.0.1 > " PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { "127.0.0.1 > 127.0.0.1", OWN, YES, NULL, NULL, NULL, 0 },
            { "127.0.0.1 > 127.5.5.5", OWN, YES, NULL, NULL, NULL, 0 },
            { "127.0.0.1 > -", OWN, YES, NULL, NULL, NULL, 0 },
            { "- > 127.0.0.1", OWN, YES, NULL, NULL, NULL, 0 },
            { "127.0.0.1 > ::1", OWN, YES, NULL, NULL, NULL, 0 },
            { "::1 > ::1", OWN, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs with the zero address, where it is not special",
        "link set lo up\n" LAN46 DEFAULT4 DEFAULT6,
        {
            { "0.0.0.0 > " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { ":: > " PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { "0.0.0.0 > 10.1.0.77", DIRECT, YES, "wan0", NULL, NULL, 0 },
            { "0.0.0.0 > 127.0.0.1", OWN, YES, NULL, NULL, NULL, 0 },
            /* To send to 0.0.0.0 is to send to this machine. */
            { "- > 0.0.0.0", OWN, YES, NULL, NULL, NULL, 0 },
            { "0.0.0.0 > 0.0.0.0", OWN, YES, NULL, NULL, NULL, 0 },
            { "10.1.0.2 > 0.0.0.0", OWN, YES, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs of the unspecified address, loopback only",
        "link set lo up\n",
        {
            { "0.0.0.0 > 0.0.0.0", OWN, YES, NULL, NULL, NULL, 0 },
            { "- > 0.0.0.0", OWN, YES, NULL, NULL, NULL, 0 },
            { "0.0.0.0 > " PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { ":: > " PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs of mixed families",
        "link set lo up\n" LAN46 DEFAULT4 DEFAULT6,
        {
            { "10.1.0.2 > " PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", NULL, 0 },
            { "2001:db8:1::2 > " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", NULL, 0 },
            { "10.1.0.99 > " PUBLIC6, OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
            { "2001:db8:1::99 > " PUBLIC4, OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
            { "0.0.0.0 > " PUBLIC6, ONLINE, YES, NULL, NULL, NULL, 0 },
            { ":: > " PUBLIC4, ONLINE, YES, NULL, NULL, NULL, 0 },
            { "::ffff:10.1.0.2 > " PUBLIC4, ONLINE, YES, "wan0", "10.1.0.1", "10.1.0.2", 0 },
            { "::ffff:10.1.0.99 > " PUBLIC4, OFFLINE, REACH_REASON_NOT_LOCAL, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs under rules for a source, IPv4",
        LAN4 "veth wan1 10.2.0.2/24\nroute add default via 10.2.0.1 table 100\nrule add from 10.2.0.2 lookup 100\n",
        {
            { "10.2.0.2 > " PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", "10.2.0.2", 0 },
            { "10.1.0.2 > " PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "- > " PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "0.0.0.0 > " PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC4, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "zero", OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs under rules for a source, IPv6",
        LAN6 "veth wan1 2001:db8:2::2/64\nroute add ::/0 via 2001:db8:2::1 table 100\n"
             "-6 rule add from 2001:db8:2::2 lookup 100\n",
        {
            { "2001:db8:2::2 > " PUBLIC6, ONLINE, YES, "wan1", "2001:db8:2::1", "2001:db8:2::2", 0 },
            { "2001:db8:1::2 > " PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs under a rule that prohibits a source",
        LAN4 DEFAULT4 "address add 10.1.0.3/24 dev wan0\nrule add from 10.1.0.3 prohibit\n",
        {
            { "10.1.0.3 > " PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { "10.1.0.2 > " PUBLIC4, ONLINE, YES, "wan0", NULL, "10.1.0.2", 0 },
            { PUBLIC4, ONLINE, YES, "wan0", NULL, "10.1.0.2", 0 },
        },
    },
    {
        /* A packet of no link in particular, which a rule for one does not concern. */
        "a rule for the link of another next hop",
        LAN46 SECOND_LAN46 "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1\n"
        "route add ::/0 nexthop via 2001:db8:1::1 dev wan0 nexthop via 2001:db8:2::1 dev wan1\npull wan0\n"
        "rule add pref 50 oif wan1 prohibit\n-6 rule add pref 50 oif wan1 prohibit\n",
        {
            { "198.51.100.1", ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { "198.51.100.2", ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { "198.51.100.3", ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { "198.51.100.4", ONLINE, YES, "wan1", "10.2.0.1", NULL, 0 },
            { "2001:db8:ffff::1", ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            { "2001:db8:ffff::2", ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            { "2001:db8:ffff::3", ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            { "2001:db8:ffff::4", ONLINE, YES, "wan1", "2001:db8:2::1", NULL, 0 },
            { "zero", ONLINE, YES, "wan1", NULL, NULL, 0 },
        },
    },
    {
        /* Connections ask again with the source that they would have. */
        "rules for a source that is not bound",
        LAN4 SECOND_LAN46 DEFAULT4 "route add default via 10.2.0.1 table 100\nrule add from 10.1.0.2 lookup 100\n",
        {
            { PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", "10.1.0.2", 0 },
            { "zero", ONLINE, YES, "wan1", NULL, NULL, 0 },
            { "10.1.0.2 > " PUBLIC4, ONLINE, YES, "wan1", "10.2.0.1", "10.1.0.2", 0 },
            { "10.1.0.77", ONLINE, YES, "wan1", "10.2.0.1", "10.1.0.2", 0 },
        },
    },
    {
        "a rule that prohibits the source that is not bound",
        LAN4 DEFAULT4 "rule add from 10.1.0.2 prohibit\n",
        {
            { PUBLIC4, OFFLINE, REACH_REASON_PROHIBITED, NULL, NULL, NULL, 0 },
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { "10.1.0.2", OWN, YES, NULL, "", "10.1.0.2", 0 },
        },
    },
    {
        "a default route for one source, IPv6",
        LAN6 "route add ::/0 from 2001:db8:1::/64 via 2001:db8:1::1 dev wan0\n",
        {
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
            { "zero", ONLINE, YES, "wan0", NULL, "2001:db8:1::2", 0 },
            { "2001:db8:1::2 > " PUBLIC6, ONLINE, YES, "wan0", NULL, "2001:db8:1::2", 0 },
        },
    },
    {
        "a default route for one source beside one that refuses, IPv6",
        LAN6 "route add ::/0 from 2001:db8:1::/64 via 2001:db8:1::1 dev wan0\n"
             "route add unreachable ::/0 metric 5000\n",
        {
            { PUBLIC6, ONLINE, YES, "wan0", "2001:db8:1::1", "2001:db8:1::2", 0 },
        },
    },
    {
        "a default route for a source that this machine has not, IPv6",
        LAN6 "route add ::/0 from 2001:db8:7::/64 via 2001:db8:1::1 dev wan0\n",
        {
            { PUBLIC6, OFFLINE, NO_ROUTE, NULL, NULL, NULL, 0 },
            { "zero", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        /* An address for use inside a site is no source for the world while there is another one. */
        "default routes for a source, with an address for inside only, IPv6",
        "veth wan0 fd00:1::2/64 2001:db8:1::2/64\n"
        "route add ::/0 from 2001:db8:1::/64 via fe80::1 dev wan0\nroute add unreachable ::/0 from fd00:1::/64\n",
        {
            { PUBLIC6, ONLINE, YES, "wan0", "fe80::1", "2001:db8:1::2", 0 },
            { "fd00:1::2 > " PUBLIC6, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "a default route for one source over a dead link, IPv6",
        LAN6 "route add ::/0 from 2001:db8:1::/64 via 2001:db8:1::1 dev wan0\npull wan0\n",
        {
            { PUBLIC6, OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    {
        "pairs with a link-local side",
        "veth wan0 fe80::5/64\nveth wan1 fe80::6/64\npull wan0\n",
        {
            { "fe80::6%wan1 > fe80::77", DIRECT, YES, "wan1", "", "fe80::6", 0 },
            { "fe80::5%wan0 > fe80::77", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
            { "fe80::6%wan1 > fe80::77%wan1", DIRECT, YES, "wan1", "", "fe80::6", 0 },
            { "fe80::6%wan1 > fe80::77%wan0", OFFLINE, ANY_REASON, NULL, NULL, NULL, 0 },
        },
    },
    /* ------------------------------------------------------------------------------------------ names that are text */
    {
        "text that is an address",
        "link set lo up\n" LAN46 DEFAULT4,
        {
            { "name 10.1.0.77", DIRECT, YES, NULL, NULL, NULL, 0 },
            { "name 10.65538", OWN, YES, NULL, NULL, NULL, 0 },
            { "name 0x0a.1.077", DIRECT, YES, NULL, NULL, NULL, 0 },
            { "name 127.1", OWN, YES, NULL, NULL, NULL, 0 },
            { "name 0x7f000001", OWN, YES, NULL, NULL, NULL, 0 },
            { "name 0177.0.0.1", OWN, YES, NULL, NULL, NULL, 0 },
            { "name 0", ONLINE, YES, NULL, NULL, NULL, 0 },
            { "name ::1", OWN, YES, NULL, NULL, NULL, 0 },
            { "name 2001:db8:1::77", DIRECT, YES, NULL, NULL, NULL, 0 },
            { "name ::ffff:10.1.0.77", DIRECT, YES, NULL, NULL, NULL, 0 },
        },
    },
    /* ------------------------------------------------------------------------------- addresses that change owner */
    {
        "an IPv6 address on the second link",
        LAN6 "veth wan1 2001:db8:2::2/64\nroute add ::/0 via fe80::1 dev wan1\n",
        {
            { "zero", ONLINE, YES, "wan1", "fe80::1", "2001:db8:2::2", 0 },
            { PUBLIC6, ONLINE, YES, "wan1", "fe80::1", "2001:db8:2::2", 0 },
        },
    },
};

/* ------------------------------------------------------------------------------------------------------ asking --- */

/* What the kernel itself tells of the link: whether its own carrier is gone, or that of the link below. */
static int carrier_reason(const char *link)
{
    char path[64], state[32] = "";
    snprintf(path, sizeof path, "/sys/class/net/%s/operstate", link);
    FILE *file = fopen(path, "re");
    require_message(file != NULL, "%s: %s", path, strerror(errno));
    require(fgets(state, sizeof state, file) != NULL);
    fclose(file);
    require_message(strcmp(state, "down\n") == 0 || strcmp(state, "lowerlayerdown\n") == 0, "%s is %s", link, state);
    return state[0] == 'd' ? REACH_REASON_NO_CARRIER : REACH_REASON_LOWER_LAYER_DOWN;
}

static void check_text(const struct question *question, const char *how, const char *field, const char *actual,
                       const char *expected)
{
    require_message(expected == NULL || strcmp(actual, expected) == 0, "%s (%s): the %s is \"%s\", not \"%s\"",
                    question->about, how, field, actual, expected);
}

/* Asks once more in the long form and compares everything the question says. Releases the target. */
static void check_target(const struct question *question, const char *how, reach_target *target)
{
    reach_flags flags = 0xdeadbeef;
    require_message(reach_get_flags(target, &flags), "%s (%s): %s", question->about, how, errno_name(errno));
    require_message(flags == question->flags, "%s (%s): the flags are 0x%x, not 0x%x", question->about, how, flags,
                    question->flags);
    reach_path path = path_of(target);
    require_message(path.flags == flags, "%s (%s): the flags of the path are 0x%x", question->about, how, path.flags);
    require_message(flags != 0 || (path.ipv4_usable == 0 && path.ipv6_usable == 0),
                    "%s (%s): not reachable, and yet by IPv4 %u, by IPv6 %u", question->about, how, path.ipv4_usable,
                    path.ipv6_usable);

    if (question->reason != ANY_REASON) {
        int reason = question->reason == CARRIER_REASON ? carrier_reason(path.interface_name) : question->reason;
        require_message(path.reason == reason, "%s (%s): the reason is \"%s\", not \"%s\"", question->about, how,
                        reach_reason_text(path.reason), reach_reason_text(reason));
    } else {
        require_message(path.reason != REACH_REASON_REACHABLE || reach_flags_is_online(flags),
                        "%s (%s): offline for the reason that it is reachable", question->about, how);
    }
    check_text(question, how, "link", path.interface_name, question->link);
    check_text(question, how, "gateway", path.gateway, question->gateway);
    check_text(question, how, "source", path.source, question->source);
    require_message(question->kind == 0 || path.interface_kind == question->kind, "%s (%s): the kind is %d, not %d",
                    question->about, how, path.interface_kind, question->kind);
    unsigned index = path.interface_name[0] == '\0' ? 0 : if_nametoindex(path.interface_name);
    require_message(path.interface_index == index, "%s (%s): the link \"%s\" has index %u, not %u", question->about,
                    how,
                    path.interface_name, index, path.interface_index);
    reach_release(target);
}

static void check_zero(const struct question *question)
{
    check_target(question, "0.0.0.0", target("0.0.0.0"));
    check_target(question, "::", target("::"));
    check_target(question, "name 0.0.0.0", target_name("0.0.0.0"));
    check_target(question, "name ::", target_name("::"));
    errno = EINVAL;
    bool online = reach_is_online();
    require_message(online == reach_flags_is_online(question->flags), "reach_is_online says %s", online ? "yes" : "no");
    require_message(online || errno == 0, "reach_is_online: %s", errno_name(errno));
}

static void check_pair(const struct question *question, const char *arrow)
{
    char local[64];
    snprintf(local, sizeof local, "%.*s", (int)(arrow - question->about), question->about);
    const char *remote = arrow + strlen(" > ");
    check_target(question, "pair",
                 target_pair(strcmp(local, "-") == 0 ? NULL : local, strcmp(remote, "-") == 0 ? NULL : remote));
}

/* An address has several spellings, which must agree. */
static void check_address(const struct question *question)
{
    check_target(question, "address", target(question->about));
    check_target(question, "pair without a local side", target_pair(NULL, question->about));
    char mapped[64];
    snprintf(mapped, sizeof mapped, "::ffff:%s", question->about);
    if (strchr(question->about, ':') == NULL) {
        check_target(question, "pair with any local side", target_pair("0.0.0.0", question->about));
        check_target(question, "IPv4-mapped", target(mapped));
    } else {
        check_target(question, "pair with any local side", target_pair("::", question->about));
    }
    if (strchr(question->about, '%') == NULL) {
        check_target(question, "text", target_name(question->about));
    }
}

static void check_situation(void *argument)
{
    const struct situation *situation = argument;
    network(situation->script);
    for (const struct question *question = situation->questions; question->about != NULL; question++) {
        const char *arrow = strstr(question->about, " > ");
        if (strcmp(question->about, "zero") == 0) {
            check_zero(question);
        } else if (strncmp(question->about, "name ", 5) == 0) {
            check_target(question, "name", target_name(question->about + 5));
        } else if (arrow != NULL) {
            check_pair(question, arrow);
        } else {
            check_address(question);
        }
    }
}

int main(void)
{
    enum { count = sizeof situations / sizeof *situations };
    struct scenario scenarios[count];
    struct CMUnitTest tests[count];
    for (size_t index = 0; index < count; index++) {
        scenarios[index] = (struct scenario){ check_situation, (void *)&situations[index] };
        tests[index] = (struct CMUnitTest){ situations[index].name, run_in_namespace, NULL, NULL, &scenarios[index] };
    }
    return cmocka_run_group_tests_name("situations", tests, NULL, NULL);
}
