/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * libnl's route cache, kept up to date by its cache manager; the internet is taken to be reachable while the cache has
 * a default route.
 */
#include <errno.h>
#include <netlink/cache.h>
#include <netlink/netlink.h>
#include <netlink/route/route.h>
#include <netlink/version.h>
#include <pthread.h>
#include <sys/socket.h>

#include "../peer.h"

static struct nl_cache_mngr *manager;
static struct nl_cache *routes;
static peer_changed report;
static unsigned long lost;

static bool is_default(struct rtnl_route *route)
{
    struct nl_addr *destination = rtnl_route_get_dst(route);
    return rtnl_route_get_family(route) == AF_INET && destination != NULL && nl_addr_get_prefixlen(destination) == 0;
}

static int has_default(void)
{
    for (struct nl_object *object = nl_cache_get_first(routes); object != NULL; object = nl_cache_get_next(object))
        if (is_default((struct rtnl_route *)object))
            return 1;
    return 0;
}

static void changed(struct nl_cache *cache, struct nl_object *object, int action, void *unused)
{
    (void)cache;
    (void)unused;
    if (report != NULL && is_default((struct rtnl_route *)object))
        report(0, action != NL_ACT_DEL);
}

static bool start(void)
{
    if (nl_cache_mngr_alloc(NULL, NETLINK_ROUTE, NL_AUTO_PROVIDE, &manager) < 0)
        return false;
    return nl_cache_mngr_add(manager, "route/route", changed, NULL, &routes) >= 0;
}

/* After a loss the cache is filled anew, as the manual says. */
static void refill(void)
{
    struct nl_sock *socket = nl_socket_alloc();
    lost++;
    if (socket != NULL && nl_connect(socket, NETLINK_ROUTE) >= 0) {
        nl_cache_refill(socket, routes);
        if (report != NULL)
            report(0, has_default());
    }
    nl_socket_free(socket);
}

static int check(void)
{
    /* A poll handles one receive; 0 says that there was nothing left. */
    int handled;
    while ((handled = nl_cache_mngr_poll(manager, 0)) > 0)
        continue;
    if (handled < 0)
        refill();
    return has_default();
}

static int remembered(void)
{
    return has_default();
}

static void *loop(void *unused)
{
    (void)unused;
    for (;;) {
        int handled = nl_cache_mngr_poll(manager, -1);
        if (handled < 0 && handled != -NLE_INTR)
            refill();
    }
    return NULL;
}

static bool watch(unsigned targets, peer_changed told)
{
    pthread_t thread;
    (void)targets;
    if (!start())
        return false;
    report = told;
    return pthread_create(&thread, NULL, loop, NULL) == 0;
}

static unsigned long overflows(void)
{
    return lost;
}

static const char *version(void)
{
    return LIBNL_VERSION;
}

const struct peer peer = {
    .name = "libnl route cache",
    .version = version,
    .stages = 1,
    .start = start,
    .check = check,
    .remembered = remembered,
    .watch = watch,
    .overflows = overflows,
};
