/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Change callbacks: each change of the answer is told once, in order, with the right flags; what changes no answer is
 * not told at all. Every walk is made twice, with a queue that has a thread and with one that is driven by hand.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO 0u
#define YES REACH_FLAG_REACHABLE
#define NEAR (REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT)
#define TUN (REACH_FLAG_REACHABLE | REACH_FLAG_TRANSIENT_CONNECTION)

/* A queue of either kind with a barrier on it, and a recorder. */
struct desk {
    reach_queue *queue;
    reach_queue *manual; /* the same, or NULL when it has a thread */
    struct barrier *barrier;
    struct recorder *recorder;
};

/* The argument of a scenario says which kind. */
static int with_thread = 0;
static int by_hand = 1;

static struct desk desk_create(const void *kind)
{
    bool manual = *(const int *)kind != 0;
    struct desk desk;
    desk.queue = manual ? reach_queue_create_manual() : reach_queue_create("desk");
    require_message(desk.queue != NULL, "%s", errno_name(errno));
    desk.manual = manual ? desk.queue : NULL;
    desk.barrier = barrier_create(desk.queue, manual);
    desk.recorder = recorder_create();
    return desk;
}

static void desk_free(struct desk *desk)
{
    require_no_event(desk->recorder, desk->barrier);
    barrier_free(desk->barrier);
    require(reach_queue_flush(desk->queue));
    reach_queue_release(desk->queue);
    recorder_free(desk->recorder);
}

static void watch(struct desk *desk, reach_target *watched)
{
    require(reach_set_callback(watched, record_event, desk->recorder, record_release));
    require(reach_set_queue(watched, desk->queue));
}

static void unwatch(struct desk *desk, reach_target *watched)
{
    require(reach_set_queue(watched, NULL));
    require(reach_queue_flush(desk->queue));
    size_t releases = recorder_releases(desk->recorder);
    reach_release(watched);
    wait_releases(desk->recorder, desk->manual, releases + 1);
}

/* -------------------------------------------------------------------------------------------- walks of changes --- */

#define same 0x80000000u /* no callback */

struct change {
    const char *script;
    /* What the callback says about each target, or same. */
    reach_flags internet, address;
};

struct walk {
    const char *address;
    const char *start;
    struct change changes[24];
};

/* The eleven changes of the truth that a well-known library told of with one signal or with twenty-nine. */
static const struct walk ipv4_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n",
    {
        { "pull wan0", NO, NO },
        { "plug wan0", YES, YES },
        { "link set wan0 down", NO, NO },
        { "link set wan0 up\nrunning wan0", same, same },
        { "route add 0.0.0.0/1 via 10.1.0.1", YES, same },
        { "route add 128.0.0.0/1 via 10.1.0.1", same, YES },
        { "route del 0.0.0.0/1", same, same },
        { "route del 128.0.0.0/1", NO, NO },
        { "route add default via 10.1.0.1 table 100", same, same },
        { "rule add lookup 100", YES, YES },
        { "rule del lookup 100", NO, NO },
        { "route add default via 10.1.0.1 metric 50", YES, YES },
        { "route add unreachable default metric 5", NO, NO },
        { "route del unreachable default metric 5", YES, YES },
        { "address del 10.1.0.2/24 dev wan0", NO, NO },
        { NULL, 0, 0 },
    },
};

static const struct walk ipv6_walk = {
    "2001:db8:ffff::9",
    "link set lo up\nveth wan0 2001:db8:1::2/64\nsysctl net/ipv6/conf/wan0/keep_addr_on_down 1\n"
    "route add ::/0 via 2001:db8:1::1\n",
    {
        { "pull wan0", NO, NO },
        { "plug wan0", YES, YES },
        { "link set wan0 down", NO, NO },
        { "link set wan0 up\nrunning wan0\nusable 2001:db8:1::2", same, same },
        { "route add ::/1 via 2001:db8:1::1", YES, YES },
        { "route add 8000::/1 via 2001:db8:1::1", same, same },
        { "route del 8000::/1", same, same },
        { "route del ::/1", NO, NO },
        { "route add ::/0 via 2001:db8:1::1 table 100", same, same },
        { "-6 rule add lookup 100", YES, YES },
        { "-6 rule del lookup 100", NO, NO },
        { "route add ::/0 via 2001:db8:1::1 metric 50", YES, YES },
        { "route add unreachable ::/0 metric 5", NO, NO },
        { "route del unreachable ::/0 metric 5", YES, YES },
        { "address del 2001:db8:1::2/64 dev wan0", NO, NO },
        { NULL, 0, 0 },
    },
};

static const struct walk dual_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24 2001:db8:1::2/64\nroute add default via 10.1.0.1\n"
    "route add ::/0 via 2001:db8:1::1\n",
    {
        { "route del ::/0", same, same },
        { "route add ::/0 via 2001:db8:1::1", same, same },
        { "route del default", same, NO },
        { "route add default via 10.1.0.1", same, YES },
        { "pull wan0", NO, NO },
        { "plug wan0", YES, YES },
        { "rule add pref 10 prohibit", same, NO },
        { "-6 rule add pref 10 prohibit", NO, same },
        { "rule del pref 10 prohibit", YES, YES },
        { "-6 rule del pref 10 prohibit", same, same },
        { "address del 10.1.0.2/24 dev wan0", same, NO },
        { "address del 2001:db8:1::2/64 dev wan0", NO, same },
        { NULL, 0, 0 },
    },
};

/* The address has a route of its own, which comes and goes under a default route that stays. */
static const struct walk own_route_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24\nveth wan1 10.2.0.2/24\nroute add default via 10.1.0.1\n",
    {
        { "route add unreachable 198.51.100.9", same, NO },
        { "route del unreachable 198.51.100.9", same, YES },
        { "route add 198.51.100.9 dev wan0", same, NEAR },
        { "route add 198.51.100.8 dev wan0", same, same },
        { "route add unreachable 198.51.0.0/16", same, same },
        { "route del 198.51.100.9", same, NO },
        { "route del unreachable 198.51.0.0/16", same, YES },
        { "route add 198.51.100.0/24 via 10.2.0.1", same, YES }, /* by another link */
        { "pull wan1", same, NO },
        { "plug wan1", same, YES },
        { "route del 198.51.100.0/24", same, YES }, /* and back */
        { "route add 198.51.100.0/24 via 10.1.0.1", same, same },
        { "address add 198.51.100.9/32 dev lo", same, YES | REACH_FLAG_IS_DIRECT | REACH_FLAG_IS_LOCAL_ADDRESS },
        { "address del 198.51.100.9/32 dev lo", same, YES },
        { NULL, 0, 0 },
    },
};

/* Another link, still online: one callback, and the flags are as they were. */
static const struct walk egress_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24\nveth wan1 10.2.0.2/24\nroute add default via 10.1.0.1\n",
    {
        { "route replace default via 10.2.0.1", YES, YES },
        { "route replace default via 10.1.0.1", YES, YES },
        { "route replace default via 10.1.0.3", same, same },
        { "route add default via 10.2.0.1 metric 600", same, same },
        { "route del default via 10.1.0.3", YES, YES },
        { "route add default via 10.1.0.1 metric 100", YES, YES },
        { "route del default via 10.2.0.1 metric 600", same, same },
        { NULL, 0, 0 },
    },
};

static const struct walk tunnel_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n",
    {
        { "tun vpn0\nlink set vpn0 up\naddress add 10.9.0.2/32 dev vpn0", same, same },
        { "route add default dev vpn0 table 51820\nrule add not fwmark 51820 lookup 51820", TUN, TUN },
        { "rule add lookup main suppress_prefixlength 0", same, same },
        { "rule del not fwmark 51820 lookup 51820", YES, YES },
        { "route add 0.0.0.0/1 dev vpn0", TUN, same },
        { "close vpn0", YES, same },
        { NULL, 0, 0 },
    },
};

/* Offline, no packet leaves by any link: which link it is that does not work is no news. */
static const struct walk offline_walk = {
    "2001:db8:ffff::9",
    "link set lo up\nveth wan0 fe80::5/64\nveth wan1 fe80::6/64\n",
    {
        { "route add ::/0 via fe80::1 dev wan0", same, same },
        { "route replace ::/0 via fe80::1 dev wan1", same, same },
        { "pull wan1", same, same },
        { "route add unreachable ::/0 metric 1", same, same },
        { "route del unreachable ::/0 metric 1", same, same },
        { "address add 2001:db8:2::2/64 dev wan1 nodad", same, same },
        { "plug wan1", YES, YES },
        { "pull wan1", NO, NO },
        { "route del ::/0", same, same },
        { "plug wan1", same, same },
        { NULL, 0, 0 },
    },
};

struct walking {
    const struct walk *walk;
    const void *kind;
};

static void take_change(struct desk *desk, reach_target *watched, const char *script, const char *what,
                        reach_flags expected, struct event event)
{
    (void)desk;
    require_message(event.target == watched, "after \"%s\": a callback about another target than %s", script, what);
    require_message(event.flags == expected, "after \"%s\": the callback about %s says 0x%x, not 0x%x", script, what,
                    event.flags, expected);
}

static void walk_changes(void *argument)
{
    const struct walking *walking = argument;
    const struct walk *walk = walking->walk;
    network(walk->start);
    struct desk desk = desk_create(walking->kind);
    reach_target *internet = target("0.0.0.0");
    reach_target *address = target(walk->address);
    watch(&desk, internet);
    watch(&desk, address);
    require_no_event(desk.recorder, desk.barrier);

    size_t told = 0;
    for (const struct change *change = walk->changes; change->script != NULL; change++) {
        network(change->script);
        barrier_pass(desk.barrier);
        size_t expected = (change->internet != same) + (change->address != same);
        require_message(recorder_pending(desk.recorder) == expected, "after \"%s\": %zu callbacks came, not %zu",
                        change->script, recorder_pending(desk.recorder), expected);
        /* Two targets that change together may be told of in either order. */
        for (size_t index = 0; index < expected; index++) {
            struct event event = next_event(desk.recorder, desk.manual);
            bool first = event.target == internet;
            take_change(&desk, first ? internet : address, change->script, first ? "the internet" : "the address",
                        first ? change->internet : change->address, event);
        }
        told += expected;
        if (change->internet != same) {
            require_flags(internet, change->internet);
        }
        if (change->address != same) {
            require_flags(address, change->address);
        }
    }
    require_int(recorder_count(desk.recorder), told);
    unwatch(&desk, internet);
    unwatch(&desk, address);
    desk_free(&desk);
}

/* The same without a barrier between the steps: each event is waited for, and then the next change is made. */
static void eleven_changes(void *argument)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    struct desk desk = desk_create(argument);
    reach_target *internet = target("0.0.0.0");
    watch(&desk, internet);
    static const struct {
        const char *script;
        reach_flags flags;
    } changes[] = {
        { "pull wan0", NO },
        { "plug wan0", YES },
        { "link set wan0 down", NO },
        { "link set wan0 up\nrunning wan0\nroute add 0.0.0.0/1 via 10.1.0.1\nroute add 128.0.0.0/1 via 10.1.0.1", YES },
        { "route del 0.0.0.0/1\nroute del 128.0.0.0/1", NO },
        { "route add default via 10.1.0.1 table 100\nrule add lookup 100", YES },
        { "rule del lookup 100", NO },
        { "route add default via 10.1.0.1 metric 50", YES },
        { "route add unreachable default metric 5", NO },
        { "route del unreachable default metric 5", YES },
        { "address del 10.1.0.2/24 dev wan0", NO },
    };
    enum { count = sizeof changes / sizeof *changes };
    for (size_t index = 0; index < count; index++) {
        network(changes[index].script);
        require_event(desk.recorder, desk.manual, internet, changes[index].flags);
    }
    require_no_event(desk.recorder, desk.barrier);
    require_int(recorder_count(desk.recorder), 11);
    unwatch(&desk, internet);
    desk_free(&desk);
}

/* A setting is no route and no link, and decides which routes count all the same. */
static const struct walk setting_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24\nveth wan1 10.2.0.2/24\nroute add default via 10.1.0.1 metric 10\n"
    "route add default via 10.2.0.1 metric 20\npull wan0\n",
    {
        { "sysctl net/ipv4/conf/all/ignore_routes_with_linkdown 1", YES, YES },
        { "sysctl net/ipv4/conf/all/ignore_routes_with_linkdown 0", NO, NO },
        { "sysctl net/ipv4/conf/wan0/ignore_routes_with_linkdown 1", YES, YES },
        { NULL, 0, 0 },
    },
};

static const struct walk source_walk = {
    "2001:db8:ffff::9",
    "link set lo up\nveth wan0 2001:db8:1::2/64\nroute add ::/0 from 2001:db8:1::/64 via 2001:db8:1::1 dev wan0\n",
    {
        /* Of sources that are equally good the kernel takes the newest, which this route is not for. */
        { "address add 2001:db8:7::2/64 dev wan0 nodad", NO, NO },
        { "address change 2001:db8:7::2/64 dev wan0 preferred_lft 0", YES, YES },
        { "address del 2001:db8:1::2/64 dev wan0", NO, NO },
        { "route add ::/0 from 2001:db8:7::/64 via fe80::1 dev wan0", YES, YES },
        { "route del ::/0 from 2001:db8:7::/64 via fe80::1 dev wan0", NO, NO },
        { NULL, 0, 0 },
    },
};

static const struct walk source_rule_walk = {
    "198.51.100.9",
    "link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n",
    {
        { "rule add from 10.1.0.2 prohibit", NO, NO },
        { "rule del from 10.1.0.2 prohibit", YES, YES },
        { NULL, 0, 0 },
    },
};

/* A route that ends by itself ends without a word: the kernel tells of it when it clears it away, much later. */
static void a_route_ends_by_itself(void *argument)
{
    network("link set lo up\nveth wan0 2001:db8:1::2/64\nroute add ::/0 via 2001:db8:1::1 dev wan0 expires 2\n");
    struct desk desk = desk_create(argument);
    reach_target *internet = target("0.0.0.0");
    reach_target *kept = target("2001:db8:ffff::9");
    watch(&desk, internet);
    require_flags(kept, YES);
    require(path_of(kept).generation != 0);
    require_event(desk.recorder, desk.manual, internet, NO);
    /* The kernel says so to whoever asks; and so does the one who has asked before. */
    require(!ip_try("-6 route get 2001:db8:ffff::9"));
    require_flags(internet, NO);
    require_flags(kept, NO);
    network("route replace ::/0 via 2001:db8:1::1 dev wan0\n");
    require_event(desk.recorder, desk.manual, internet, YES);
    require_flags(kept, YES);
    reach_release(kept);
    unwatch(&desk, internet);
    desk_free(&desk);
}

/* Of equal default routes the kernel leaves one whose router does not answer, and does not say so. */
static void another_router_takes_over(void *argument)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\nveth wan1 10.2.0.2/24\nroute add default via 10.1.0.1\n"
            "route append default via 10.2.0.1\n"
            "neighbour add 10.2.0.1 lladdr 02:00:00:00:00:09 dev wan1\n");
    struct desk desk = desk_create(argument);
    reach_target *internet = target("0.0.0.0");
    watch(&desk, internet);
    require_text(path_of(internet).interface_name, "wan0");
    network("pull wan0\n");
    require_event(desk.recorder, desk.manual, internet, NO);
    ip("neighbour add 10.1.0.1 dev wan0 nud failed");
    require_event(desk.recorder, desk.manual, internet, YES);
    require_text(path_of(internet).interface_name, "wan1");
    unwatch(&desk, internet);
    desk_free(&desk);
}

/* ----------------------------------------------------------------------------- changes that somebody else took --- */

static void take_the_route_away(reach_target *changed, reach_flags flags, void *info)
{
    record_event(changed, flags, info);
    if (flags != NO) {
        ip("route del 192.0.2.0/24");
    }
}

static void pay_no_heed(reach_target *asked, bool online, reach_flags flags, void *info)
{
    (void)asked;
    (void)online;
    (void)flags;
    (void)info;
}

/* A confirmation that is to be answered looks once more, and so may be the one that reads of somebody else's change. */
static void heard_by_a_confirmation(void *argument)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    struct desk desk = desk_create(argument);
    reach_target *watched = target("192.0.2.1");
    reach_target *asked = target("192.0.2.9");
    require(reach_set_callback(watched, take_the_route_away, desk.recorder, record_release));
    require(reach_set_queue(watched, desk.queue));
    uint64_t id = reach_confirm(asked, -1, desk.queue, pay_no_heed, NULL, NULL);
    require_message(id != 0, "%s", errno_name(errno));
    for (int round = 0; round < 5; round++) {
        ip("route add 192.0.2.0/24 via 10.1.0.1");
        require_event(desk.recorder, desk.manual, watched, YES);
        require_event(desk.recorder, desk.manual, watched, NO);
    }
    reach_confirm_cancel(id);
    reach_release(asked);
    unwatch(&desk, watched);
    desk_free(&desk);
}

/* Somebody who asks and is told of a change has to be told when it is undone, though no callback told of it. */
static void undone_after_somebody_looked(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    struct desk desk = desk_create(&by_hand);
    reach_target *watched[] = { target("0.0.0.0"), target("198.51.100.9"), target_pair("10.1.0.2", "198.51.100.9") };
    enum { count = sizeof watched / sizeof *watched };
    for (int index = 0; index < count; index++) {
        watch(&desk, watched[index]);
        for (int round = 0; round < 2; round++) {
            network("route del default\n");
            if (round == 0) {
                require_flags(watched[index], NO);
            } else {
                require_int(path_of(watched[index]).flags, NO);
            }
            network("route add default via 10.1.0.1\n");
            require_event(desk.recorder, desk.manual, watched[index], YES);
            require_no_event(desk.recorder, desk.barrier);
        }
        /* Who looks again when it is undone knows that already. */
        network("route del default\n");
        require_flags(watched[index], NO);
        network("route add default via 10.1.0.1\n");
        require_flags(watched[index], YES);
        require_no_event(desk.recorder, desk.barrier);
        unwatch(&desk, watched[index]);
    }
    desk_free(&desk);
}

/* -------------------------------------------------------------------------------------------- what is not told --- */

#define ONLINE_NETWORK "link set lo up\nveth wan0 10.1.0.2/24 2001:db8:1::2/64\nroute add default via 10.1.0.1\n" \
                       "route add ::/0 via fe80::1 dev wan0\n"

struct audience {
    reach_target *internet, *ipv4, *ipv6, *neighbour;
};

static struct audience audience_create(struct desk *desk)
{
    struct audience audience = { target("::"), target("198.51.100.9"), target("2001:db8:ffff::9"),
        target("10.1.0.77") };
    watch(desk, audience.internet);
    watch(desk, audience.ipv4);
    watch(desk, audience.ipv6);
    watch(desk, audience.neighbour);
    return audience;
}

static void audience_free(struct desk *desk, struct audience *audience)
{
    unwatch(desk, audience->internet);
    unwatch(desk, audience->ipv4);
    unwatch(desk, audience->ipv6);
    unwatch(desk, audience->neighbour);
}

static void scheduling_tells_nothing(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk = desk_create(argument);
    struct audience audience = audience_create(&desk);
    require_no_event(desk.recorder, desk.barrier);
    audience_free(&desk, &audience);
    desk_free(&desk);
}

/* Containers that start and stop: links that come, join a bridge, get addresses and go. */
static void containers_tell_nothing(void *argument)
{
    network(ONLINE_NETWORK "link add name br0 type bridge\naddress add 172.17.0.1/16 dev br0\nlink set br0 up\n");
    struct desk desk = desk_create(argument);
    struct audience audience = audience_create(&desk);
    for (int group = 0; group < 10; group++) {
        network("for 1 10 link add name c# type veth peer name e#\nfor 1 10 link set c# master br0\n"
                "for 1 10 link set c# up\nfor 1 10 link set e# up\nfor 1 10 address add 172.17.1.#/16 dev e#\n");
        if (desk.manual != NULL) {
            require_int(reach_queue_dispatch(desk.manual, 0), 0);
        }
        network("for 1 10 link del c#\n");
    }
    require_no_event(desk.recorder, desk.barrier);
    audience_free(&desk, &audience);
    desk_free(&desk);
}

static void address_detection_tells_nothing(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk = desk_create(argument);
    struct audience audience = audience_create(&desk);
    /* Each arrives twice: when it is tentative, and when it is not any more. */
    network("address add 2001:db8:1::3/64 dev wan0\naddress add fe80::7/64 dev wan0\n"
            "usable 2001:db8:1::3\nusable fe80::7\n"
            "address del 2001:db8:1::3/64 dev wan0\naddress del fe80::7/64 dev wan0\n");
    require_no_event(desk.recorder, desk.barrier);
    audience_free(&desk, &audience);
    desk_free(&desk);
}

static void other_details_tell_nothing(void *argument)
{
    network(ONLINE_NETWORK "veth wan1\n");
    struct desk desk = desk_create(argument);
    struct audience audience = audience_create(&desk);
    network("route change default via 10.1.0.1 mtu 1400\nroute replace default via 10.1.0.1 initcwnd 20\n"
            "route add default via 10.1.0.1 metric 10\nroute add default via 10.1.0.1 metric 20\n"
            "route del default via 10.1.0.1 metric 10\nroute del default via 10.1.0.1 metric 20\n"
            "route append default via 10.1.0.9 metric 99\nroute del default metric 99\n"
            "route replace ::/0 via fe80::1 dev wan0 expires 600\nroute replace ::/0 via fe80::1 dev wan0 expires 700\n"
            "address change 10.1.0.2/24 dev wan0 valid_lft 900 preferred_lft 600\n"
            "address change 2001:db8:1::2/64 dev wan0 valid_lft 900 preferred_lft 600\n"
            "address add 10.1.0.3/24 dev wan0\naddress del 10.1.0.3/24 dev wan0\n"
            "rule add fwmark 7 lookup 100\nroute add unreachable default table 100\nrule del fwmark 7 lookup 100\n"
            "neighbor add 10.1.0.77 lladdr 02:00:00:00:00:01 dev wan0\nneighbor del 10.1.0.77 dev wan0\n"
            "link set wan0 mtu 1400\nlink set wan0 mtu 1500\nlink set wan0 txqueuelen 100\nlink set wan0 alias cable\n"
            "link set wan0 promisc on\nlink set wan0 promisc off\nlink set wan1 down\nlink set wan1 up\n"
            "link del wan1\n");
    require_no_event(desk.recorder, desk.barrier);
    audience_free(&desk, &audience);
    desk_free(&desk);
}

/* A change that was undone before anybody looked: nobody looks at a queue that is not driven. */
static void undone_changes_tell_nothing(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    struct desk desk = desk_create(&by_hand);
    struct audience audience = audience_create(&desk);
    for (int time = 0; time < 20; time++) {
        network("route del default\nroute add default via 10.1.0.1\nlink set wan0 down\nlink set wan0 up\n"
                "running wan0\n"
                "route add default via 10.1.0.1\naddress replace 2001:db8:1::2/64 dev wan0 nodad\n"
                "route add ::/0 via fe80::1 dev wan0\n");
    }
    require_no_event(desk.recorder, desk.barrier);
    /* Several changes between two looks give one callback, with the last answer. */
    network("route del default\nroute add default via 10.1.0.1\nroute add unreachable 198.51.100.9\n");
    require_event(desk.recorder, desk.manual, audience.ipv4, NO);
    require_no_event(desk.recorder, desk.barrier);
    audience_free(&desk, &audience);
    desk_free(&desk);
}

/* Asking does not take a callback away, whoever looked first. */
static void asking_takes_nothing_away(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk = desk_create(argument);
    reach_target *ipv4 = target("198.51.100.9");
    watch(&desk, ipv4);
    for (int time = 0; time < 20; time++) {
        ip("route del default\n");
        require_flags(ipv4, NO);
        require_event(desk.recorder, desk.manual, ipv4, NO);
        ip("route add default via 10.1.0.1\n");
        require_flags(ipv4, YES);
        require_flags(ipv4, YES);
        require_event(desk.recorder, desk.manual, ipv4, YES);
    }
    unwatch(&desk, ipv4);
    desk_free(&desk);
}

/* ---------------------------------------------------------------------------------- router advertisements --- */

/* What a router sends every few minutes: it is the default router, and this is the prefix of the network. */
struct advertisement {
    struct nd_router_advert router;
    struct nd_opt_prefix_info prefix;
};

static int router_socket(void)
{
    int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int second = open(peer_netns(), O_RDONLY | O_CLOEXEC);
    require(own >= 0 && second >= 0);
    require_int(setns(second, CLONE_NEWNET), 0);
    int descriptor = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
    require_message(descriptor >= 0, "%s", strerror(errno));
    int hops = 255, link = (int)if_nametoindex("wan0-far");
    require_int(setsockopt(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops), 0);
    require_int(setsockopt(descriptor, IPPROTO_IPV6, IPV6_MULTICAST_IF, &link, sizeof link), 0);
    require_int(setns(own, CLONE_NEWNET), 0);
    close(own);
    close(second);
    return descriptor;
}

static void advertise(int router, unsigned lifetime)
{
    struct advertisement message;
    memset(&message, 0, sizeof message);
    message.router.nd_ra_type = ND_ROUTER_ADVERT;
    message.router.nd_ra_curhoplimit = 64;
    message.router.nd_ra_router_lifetime = htons((uint16_t)lifetime);
    message.prefix.nd_opt_pi_type = ND_OPT_PREFIX_INFORMATION;
    message.prefix.nd_opt_pi_len = 4;
    message.prefix.nd_opt_pi_prefix_len = 64;
    message.prefix.nd_opt_pi_flags_reserved = ND_OPT_PI_FLAG_ONLINK | ND_OPT_PI_FLAG_AUTO;
    message.prefix.nd_opt_pi_valid_time = htonl(3600);
    message.prefix.nd_opt_pi_preferred_time = htonl(1800);
    struct sockaddr_storage prefix, everybody;
    parse_address("2001:db8:7::", &prefix);
    message.prefix.nd_opt_pi_prefix = ((struct sockaddr_in6 *)&prefix)->sin6_addr;
    socklen_t length = parse_address("ff02::1", &everybody);
    ssize_t sent = sendto(router, &message, sizeof message, 0, (struct sockaddr *)&everybody, length);
    require_message(sent == sizeof message, "%s", strerror(errno));
}

static void router_advertisements(void *argument)
{
    network("link set lo up\nveth wan0 fe80::5/64\nsysctl net/ipv6/conf/wan0/accept_ra 2\n"
            "sysctl net/ipv6/conf/wan0/dad_transmits 0\nsysctl net/ipv6/conf/wan0/addr_gen_mode 0\n"
            "peer address add fe80::1/64 dev wan0-far nodad\n");
    struct desk desk = desk_create(argument);
    reach_target *internet = target("0.0.0.0");
    reach_target *ipv6 = target("2001:db8:ffff::9");
    watch(&desk, internet);
    watch(&desk, ipv6);
    int router = router_socket();
    advertise(router, 1800);
    for (int index = 0; index < 2; index++) {
        struct event event = next_event(desk.recorder, desk.manual);
        require_int(event.flags, YES);
    }
    require_text(path_of(internet).gateway, "fe80::1");
    /* The same news again, again and again. */
    for (int time = 0; time < 30; time++) {
        advertise(router, 1800);
    }
    require_no_event(desk.recorder, desk.barrier);
    /* The router retires. */
    advertise(router, 0);
    for (int index = 0; index < 2; index++) {
        struct event event = next_event(desk.recorder, desk.manual);
        require_int(event.flags, NO);
    }
    require_no_event(desk.recorder, desk.barrier);
    close(router);
    unwatch(&desk, internet);
    unwatch(&desk, ipv6);
    desk_free(&desk);
}

/* ----------------------------------------------------------------------------------------- many targets, storms --- */

struct crowd_info {
    struct recorder *recorder;
    atomic_int *inside;
};

static void record_alone(reach_target *target, reach_flags flags, void *info)
{
    struct crowd_info *crowd = info;
    require_message(atomic_fetch_add(crowd->inside, 1) == 0, "two callbacks of one queue overlap");
    sched_yield();
    record(crowd->recorder, target, flags);
    atomic_fetch_sub(crowd->inside, 1);
}

/* All targets of a queue hear of their change, once each, one after the other, on one thread. */
static void many_targets_on_one_queue(void *argument)
{
    enum { count = 300 };
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    struct desk desk = desk_create(argument);
    atomic_int inside = 0;
    struct crowd_info info = { desk.recorder, &inside };
    reach_target *targets[count];
    for (int index = 0; index < count; index++) {
        char text[32];
        snprintf(text, sizeof text, "198.51.%d.%d", 100 + index / 200, index % 200 + 1);
        targets[index] = target(index % 10 == 0 ? "0.0.0.0" : text);
        require(reach_set_callback(targets[index], record_alone, &info, NULL));
        require(reach_set_queue(targets[index], desk.queue));
    }
    for (int time = 0; time < 4; time++) {
        reach_flags expected = time % 2 == 0 ? YES : NO;
        ip(time % 2 == 0 ? "route add default via 10.1.0.1\n" : "route del default\n");
        bool heard[count] = { false };
        uint64_t thread = 0;
        for (int index = 0; index < count; index++) {
            struct event event = next_event(desk.recorder, desk.manual);
            require_int(event.flags, expected);
            int who = 0;
            while (who < count && targets[who] != event.target) {
                who += 1;
            }
            require_message(who < count && !heard[who], "a target was told twice");
            heard[who] = true;
            require(thread == 0 || thread == event.thread);
            thread = event.thread;
        }
        require((thread == (uint64_t)gettid()) == (desk.manual != NULL));
        require_no_event(desk.recorder, desk.barrier);
    }
    for (int index = 0; index < count; index++) {
        require(reach_set_queue(targets[index], NULL));
    }
    require(reach_queue_flush(desk.queue));
    for (int index = 0; index < count; index++) {
        reach_release(targets[index]);
    }
    desk_free(&desk);
}

enum { most_scheduled = 1200 };

struct crowd {
    reach_target *targets[most_scheduled];
    int first, end; /* those that are scheduled */
};

static const char *address_in_crowd(int index)
{
    static char text[32];
    snprintf(text, sizeof text, "198.51.%d.%d", 100 + index / 200, index % 200 + 1);
    return text;
}

static void change_all(struct desk *desk, struct crowd *crowd, const char *script, reach_flags flags)
{
    bool heard[most_scheduled] = { false };
    ip("%s", script);
    for (int count = crowd->first; count < crowd->end; count++) {
        struct event event = next_event(desk->recorder, desk->manual);
        require_int(event.flags, flags);
        int who = crowd->first;
        while (who < crowd->end && crowd->targets[who] != event.target) {
            who++;
        }
        require_message(who < crowd->end && !heard[who], "a target was told that is not scheduled, or twice");
        heard[who] = true;
    }
}

/*
 * The last, the middle and the first of those that are scheduled hear of a route of their own, and all of what is about
 * all, however many they are and were: what the kernel may leave out depends on that, and so does how they are judged.
 */
static void require_heard(struct desk *desk, struct crowd *crowd)
{
    /* The last came last: if one of the others were heard first, what is left out would be put right by that. */
    int places[] = { crowd->end - 1, (crowd->first + crowd->end) / 2, crowd->first };
    for (int place = 0; place < 3; place++) {
        reach_target *own = crowd->targets[places[place]];
        ip("route add unreachable %s\n", address_in_crowd(places[place]));
        require_event(desk->recorder, desk->manual, own, NO);
        ip("route del unreachable %s\n", address_in_crowd(places[place]));
        require_event(desk->recorder, desk->manual, own, YES);
    }
    change_all(desk, crowd, "route del default\n", NO);
    change_all(desk, crowd, "route add default via 10.1.0.1\n", YES);
    require_no_event(desk->recorder, desk->barrier);
}

static void few_and_many_targets(void *argument)
{
    static const int more[] = { 1, 94, 95, 96, 97, 98, 510, 511, 512, 513, most_scheduled };
    static const int fewer[] = { 600, 512, 511, 98, 97, 96, 95, 94, 1 };
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    struct desk desk = desk_create(argument);
    struct crowd crowd = { .first = 0, .end = 0 };
    for (size_t size = 0; size < sizeof more / sizeof *more; size++) {
        while (crowd.end < more[size]) {
            crowd.targets[crowd.end] = target(address_in_crowd(crowd.end));
            require(reach_set_callback(crowd.targets[crowd.end], record_event, desk.recorder, NULL));
            require(reach_set_queue(crowd.targets[crowd.end], desk.queue));
            crowd.end++;
        }
        require_heard(&desk, &crowd);
    }
    for (size_t size = 0; size < sizeof fewer / sizeof *fewer; size++) {
        while (crowd.end - crowd.first > fewer[size]) {
            require(reach_set_queue(crowd.targets[crowd.first], NULL));
            crowd.first++;
        }
        require_heard(&desk, &crowd);
    }
    require(reach_set_queue(crowd.targets[crowd.first], NULL));
    require(reach_queue_flush(desk.queue));
    for (int index = 0; index < most_scheduled; index++) {
        reach_release(crowd.targets[index]);
    }
    desk_free(&desk);
}

struct storm {
    atomic_bool stop;
    atomic_int rounds;
};

/* Unrelated routes that come and go in great numbers. The name of each line's prefix is 20.x.y.0/24. */
static void *make_storm(void *argument)
{
    struct storm *storm = argument;
    static char script[2][10000 * 40];
    for (int way = 0; way < 2; way++) {
        char *next = script[way];
        for (int number = 0; number < 10000; number++) {
            next += sprintf(next, "route %s 20.%d.%d.0/24 via 10.1.0.1\n", way == 0 ? "add" : "del", number / 250,
                            number % 250);
        }
    }
    while (!atomic_load(&storm->stop)) {
        ip_text(script[0]);
        ip_text(script[1]);
        atomic_fetch_add(&storm->rounds, 1);
    }
    return NULL;
}

static void own_route_in_a_storm(void *argument)
{
    enum { flips = 100 };
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    struct desk desk = desk_create(argument);
    reach_target *internet = target("0.0.0.0");
    reach_target *ipv4 = target("198.51.100.9");
    watch(&desk, internet);
    watch(&desk, ipv4);
    struct storm storm;
    atomic_init(&storm.stop, false);
    atomic_init(&storm.rounds, 0);
    pthread_t thread;
    require_int(pthread_create(&thread, NULL, make_storm, &storm), 0);
    for (int flip = 0; flip < flips || atomic_load(&storm.rounds) < 2; flip++) {
        ip("route add unreachable 198.51.100.9/32\n");
        require_event(desk.recorder, desk.manual, ipv4, NO);
        ip("route del unreachable 198.51.100.9/32\n");
        require_event(desk.recorder, desk.manual, ipv4, YES);
    }
    atomic_store(&storm.stop, true);
    require_int(pthread_join(thread, NULL), 0);
    require_no_event(desk.recorder, desk.barrier);
    unwatch(&desk, internet);
    unwatch(&desk, ipv4);
    desk_free(&desk);
}

/*
 * In a storm the queue does not listen for a while. Who made it do so is gone before that is over, and somebody else
 * has come: the next change is heard of all the same.
 */
static void gone_in_a_storm(void *argument)
{
    enum { times = 10, flips = 80 };
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    struct desk desk = desk_create(argument);
    for (int time = 0; time < times; time++) {
        reach_target *ipv4 = target("198.51.100.9");
        require(reach_set_queue(ipv4, desk.queue));
        for (int flip = 0; flip < flips / (1 + time); flip++) {
            ip("route %s unreachable 198.51.100.9/32\n", flip % 2 == 0 ? "add" : "del");
            require(desk.manual == NULL || reach_queue_dispatch(desk.queue, 0) >= 0);
        }
        require(reach_set_queue(ipv4, NULL));
        reach_target *internet = target("0.0.0.0");
        watch(&desk, internet);
        require(desk.manual == NULL || reach_queue_dispatch(desk.queue, 0) >= 0);
        ip("route del default\n");
        require_event(desk.recorder, desk.manual, internet, NO);
        ip("route add default via 10.1.0.1\n");
        require_event(desk.recorder, desk.manual, internet, YES);
        unwatch(&desk, internet);
        reach_release(ipv4);
        ip_try("route del unreachable 198.51.100.9/32\n");
    }
    desk_free(&desk);
}

static bool is_netlink(int descriptor)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_NETLINK;
}

/* Somebody closes descriptors that are not his. What is scheduled next finds out, and everybody hears again. */
static void sockets_closed_by_somebody(void *argument)
{
    enum { most_descriptors = 256 };
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    reach_is_online(); /* opens the sockets for questions, which stay open */
    bool known[most_descriptors];
    for (int descriptor = 0; descriptor < most_descriptors; descriptor++) {
        known[descriptor] = is_netlink(descriptor);
    }
    struct desk desk = desk_create(argument);
    reach_target *first = target("0.0.0.0");
    watch(&desk, first);
    for (int time = 0; time < 3; time++) {
        int closed = 0;
        for (int descriptor = 0; descriptor < most_descriptors; descriptor++) {
            closed += !known[descriptor] && is_netlink(descriptor) && close(descriptor) == 0;
        }
        require_int(closed, 2);
        reach_target *second = target("198.51.100.9");
        watch(&desk, second);
        ip("route add unreachable 198.51.100.9\n");
        require_event(desk.recorder, desk.manual, second, NO);
        ip("route del unreachable 198.51.100.9\n");
        require_event(desk.recorder, desk.manual, second, YES);
        unwatch(&desk, second);
        ip("route del default\n");
        require_event(desk.recorder, desk.manual, first, NO);
        ip("route add default via 10.1.0.1\n");
        require_event(desk.recorder, desk.manual, first, YES);
    }
    unwatch(&desk, first);
    desk_free(&desk);
}

/* How many messages the kernel could not deliver to the sockets of this process: the last column but one. */
static unsigned long dropped_messages(void)
{
    FILE *table = fopen("/proc/thread-self/net/netlink", "re");
    require(table != NULL);
    char line[256];
    unsigned long total = 0, drops;
    while (fgets(line, sizeof line, table) != NULL) {
        if (sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %lu", &drops) == 1) {
            total += drops;
        }
    }
    fclose(table);
    return total;
}

struct brake {
    struct recorder *recorder;
    sem_t leave;
};

static void hold_queue(reach_target *target, reach_flags flags, void *info)
{
    struct brake *brake = info;
    record(brake->recorder, target, flags);
    while (sem_wait(&brake->leave) != 0) {
    }
}

/*
 * The queue is held up while more is said than its socket can take. Afterwards it knows the truth, says it once if it
 * is news, and goes on. Twenty times, ten of them with the truth as it was before.
 */
static void overflow(void *argument)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n"
            "route add unreachable 203.0.113.9 table local\n");
    struct desk desk = desk_create(argument);
    reach_target *internet = target("0.0.0.0");
    watch(&desk, internet);
    /*
     * A manual queue is held up by not driving it, a thread queue inside a callback of another target, whose answer
     * depends on a route in the local table alone.
     */
    reach_target *braking = target("203.0.113.9");
    struct brake brake = { .recorder = recorder_create() };
    require_int(sem_init(&brake.leave, 0, 0), 0);
    if (desk.manual == NULL) {
        require(reach_set_callback(braking, hold_queue, &brake, NULL));
        require(reach_set_queue(braking, desk.queue));
    }
    enum { lines = 1000 };
    char *script = malloc(lines * 64);
    require(script != NULL);
    char *next = script;
    for (int line = 0; line < lines; line++) {
        next += sprintf(next, "route replace default via 10.1.0.1 mtu %d\n", 1400 + line % 2);
    }

    for (int time = 0; time < 20; time++) {
        if (desk.manual == NULL) {
            ip(time % 2 == 0 ? "route replace local 203.0.113.9 dev lo table local\n"
                             : "route replace unreachable 203.0.113.9 table local\n");
            require(next_event(brake.recorder, NULL).target == braking);
        }
        unsigned long before = dropped_messages();
        for (int rounds = 0; dropped_messages() == before; rounds++) {
            require_message(rounds < 100, "the socket does not overflow");
            ip_text(script);
        }
        bool news = time / 2 % 2 == 0;
        if (news) {
            ip("route del default\n");
        }
        if (desk.manual == NULL) {
            sem_post(&brake.leave);
        }
        if (news) {
            require_event(desk.recorder, desk.manual, internet, NO);
        }
        require_no_event(desk.recorder, desk.barrier);
        /* The next changes are heard of as ever. */
        if (!news) {
            ip("route del default\n");
            require_event(desk.recorder, desk.manual, internet, NO);
        }
        ip("route add default via 10.1.0.1\n");
        require_event(desk.recorder, desk.manual, internet, YES);
    }
    free(script);
    if (desk.manual == NULL) {
        require(reach_set_queue(braking, NULL));
        require(reach_queue_flush(desk.queue));
    }
    reach_release(braking);
    require_int(recorder_pending(brake.recorder), 0);
    recorder_free(brake.recorder);
    sem_destroy(&brake.leave);
    unwatch(&desk, internet);
    desk_free(&desk);
}

int main(void)
{
#define BOTH(f) \
    namespace_test_with(#f ", thread queue", f, &with_thread), namespace_test_with(#f ", manual queue", f, &by_hand)
#define WALK(walk, title) \
    namespace_test_with(title ", thread queue", walk_changes, (&(struct walking){ &walk, &with_thread })), \
    namespace_test_with(title ", manual queue", walk_changes, (&(struct walking){ &walk, &by_hand }))
    const struct CMUnitTest tests[] = {
        BOTH(eleven_changes),
        WALK(ipv4_walk, "changes of IPv4"),
        WALK(ipv6_walk, "changes of IPv6"),
        WALK(dual_walk, "changes of both families"),
        WALK(own_route_walk, "changes of an address's own route"),
        WALK(egress_walk, "changes of the link alone"),
        WALK(tunnel_walk, "changes of a tunnel"),
        WALK(offline_walk, "changes while offline"),
        WALK(setting_walk, "changes of settings"),
        WALK(source_walk, "changes of routes for one source"),
        WALK(source_rule_walk, "changes of rules for one source"),
        BOTH(a_route_ends_by_itself),
        BOTH(another_router_takes_over),
        BOTH(scheduling_tells_nothing),
        BOTH(containers_tell_nothing),
        BOTH(address_detection_tells_nothing),
        BOTH(other_details_tell_nothing),
        namespace_test(undone_changes_tell_nothing),
        namespace_test(undone_after_somebody_looked),
        BOTH(heard_by_a_confirmation),
        BOTH(asking_takes_nothing_away),
        BOTH(router_advertisements),
        BOTH(many_targets_on_one_queue),
        BOTH(few_and_many_targets),
        BOTH(own_route_in_a_storm),
        BOTH(gone_in_a_storm),
        BOTH(sockets_closed_by_somebody),
        BOTH(overflow),
    };
    return cmocka_run_group_tests_name("callbacks", tests, NULL, NULL);
}
