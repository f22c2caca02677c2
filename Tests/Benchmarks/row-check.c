/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * A check when nothing changed, and a check right after a change. All candidates live in this one process and take
 * turns on this one thread, so that what disturbs one disturbs the others as well.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <reach.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "network.h"
#include "peer.h"

static const struct peer *load(const char *name)
{
    const char *path = bench_peer_path(name);
    void *object = path == NULL ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct peer *found = object == NULL ? NULL : dlsym(object, "peer");
    if (path != NULL && found == NULL)
        bench_note("peers", "%s cannot be loaded: %s", name, dlerror());
    if (found != NULL && !found->start()) {
        bench_note("peers", "%s does not work here", name);
        return NULL;
    }
    return found;
}

static reach_target *address_target(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    inet_pton(AF_INET, text, &address.sin_addr);
    reach_target *target = reach_create_with_address((const struct sockaddr *)&address, sizeof address);
    if (target == NULL)
        bench_fail("reach_create_with_address: %s", strerror(errno));
    return target;
}

static uint32_t address_bits(const char *text)
{
    struct in_addr address;
    inet_pton(AF_INET, text, &address);
    return address.s_addr;
}

/* ------------------------------------------------------------------------------------------- nothing changed --- */

static void operation_system_call(void *context)
{
    (void)context;
    syscall(SYS_getppid);
}

static void operation_receive(void *context)
{
    char buffer[64];
    /* The kernel tells of new links with some delay, so that the first receives may find something. */
    while (recv(*(int *)context, buffer, sizeof buffer, MSG_DONTWAIT) >= 0)
        continue;
}

static void operation_lookup(void *context)
{
    static struct network_batch batch;
    uint32_t address = address_bits(PEER_ADDRESS);
    batch_clear(&batch);
    batch_route(&batch, AF_INET, &address, 0);
    if (batch_ask(&batch, *(int *)context) != 1)
        bench_fail("no route");
}

static void operation_flags(void *context)
{
    reach_flags flags;
    if (!reach_get_flags(context, &flags) || !reach_flags_is_online(flags))
        bench_fail("reach_get_flags is wrong: %s", strerror(errno));
}

static void operation_is_online(void *context)
{
    (void)context;
    if (!reach_is_online())
        bench_fail("reach_is_online is wrong: %s", strerror(errno));
}

static void operation_path(void *context)
{
    reach_path path;
    if (!reach_get_path(context, &path, sizeof path) || !reach_flags_is_online(path.flags))
        bench_fail("reach_get_path is wrong: %s", strerror(errno));
}

static void operation_check(void *context)
{
    const struct peer *candidate = context;
    if (candidate->check() != 1)
        bench_fail("%s is wrong", candidate->name);
}

static void operation_remembered(void *context)
{
    const struct peer *candidate = context;
    if (candidate->remembered() != 1)
        bench_fail("%s is wrong", candidate->name);
}

static void no_callback(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
}

void row_check(void)
{
    int questions = network_socket();
    int events = network_event_socket();
    const struct peer *glib = load("glib");
    const struct peer *qt = load("qt");
    const struct peer *libnl = load("libnl");
    reach_target *internet = address_target("0.0.0.0");
    reach_target *address = address_target(PEER_ADDRESS);
    reach_target *scheduled = address_target(PEER_ADDRESS);
    reach_queue *queue = reach_queue_create("bench");
    struct lane lanes[16] = {
        {.name = "one empty system call", .operation = operation_system_call},
        {.name = "one non-blocking receive", .operation = operation_receive, .context = &events},
        {.name = "one RTM_GETROUTE round trip", .operation = operation_lookup, .context = &questions},
        {.name = "libreach, get_flags of 0.0.0.0", .operation = operation_flags, .context = internet},
        {.name = "libreach, get_flags of an address", .operation = operation_flags, .context = address},
        {.name = "libreach, is_online", .operation = operation_is_online},
        {.name = "libreach, get_path of an address", .operation = operation_path, .context = address},
    };
    size_t count = 7;
    const size_t receive = 1;

    if (queue != NULL && reach_set_callback(scheduled, no_callback, NULL, NULL) && reach_set_queue(scheduled, queue))
        lanes[count++] = (struct lane){
            .name = "libreach, get_flags while scheduled", .operation = operation_flags, .context = scheduled};
    else
        bench_note("check", "a target cannot be scheduled: %s", strerror(errno));
    if (glib != NULL) {
        lanes[count++] =
            (struct lane){.name = "GLib, can_reach", .operation = operation_check, .context = (void *)(uintptr_t)glib};
        lanes[count++] = (struct lane){.name = "GLib, the remembered flag",
                                       .operation = operation_remembered,
                                       .context = (void *)(uintptr_t)glib};
    }
    if (libnl != NULL)
        lanes[count++] = (struct lane){.name = "libnl, poll and search the cache",
                                       .operation = operation_check,
                                       .context = (void *)(uintptr_t)libnl};
    if (qt != NULL)
        lanes[count++] = (struct lane){.name = "Qt, process events and ask",
                                       .operation = operation_check,
                                       .context = (void *)(uintptr_t)qt};

    bench_lanes(lanes, count, bench_rounds(1000, 150), 150000);
    for (size_t i = 0; i < count; i++)
        bench_report("check", lanes[i].name, "time", "ns", &lanes[i].nanoseconds, lanes[receive].name,
                     &lanes[receive].nanoseconds);
}

/* ------------------------------------------------------------------------------------- right after a change --- */

/* What a check right after a change needs: read what happened, then ask anew, all questions in one system call. */
struct needs {
    int events;
    int questions;
    struct network_batch batch;
};

static void drain(int socket)
{
    static unsigned char buffer[32768];
    while (recv(socket, buffer, sizeof buffer, MSG_DONTWAIT) >= 0)
        continue;
}

static void needs_open(struct needs *needs)
{
    needs->events = network_event_socket();
    needs->questions = network_socket();
    batch_clear(&needs->batch);
}

static double needs_run(struct needs *needs)
{
    int64_t begin = bench_now();
    drain(needs->events);
    batch_ask(&needs->batch, needs->questions);
    return (double)(bench_now() - begin);
}

static double flags_run(reach_target *target, bool online)
{
    reach_flags flags;
    int64_t begin = bench_now();
    bool asked = reach_get_flags(target, &flags);
    double took = (double)(bench_now() - begin);
    if (!asked || reach_flags_is_online(flags) != online)
        bench_fail("reach_get_flags is wrong after a change");
    return took;
}

static double peer_run(const struct peer *candidate, bool online, unsigned *wrong)
{
    int64_t begin = bench_now();
    int answer = candidate->check();
    double took = (double)(bench_now() - begin);
    *wrong += answer != online;
    return took;
}

/* The candidates of the second row, and what each took after each change. */
enum { INTERNET, INTERNET_NEEDS, ADDRESS, ADDRESS_NEEDS, GLIB, LIBNL, CANDIDATES };

struct contest {
    reach_target *internet;
    reach_target *address;
    struct needs internet_needs;
    struct needs address_needs;
    const struct peer *glib;
    const struct peer *libnl;
    struct samples times[CANDIDATES];
    unsigned wrong[CANDIDATES];
};

/* libreach reads events once for all targets of a process, so that after each change only one of the two is asked. */
static void contest_change(struct contest *contest, unsigned number, bool measured)
{
    bool online = number % 2 != 0;
    bool ask_internet = number / 2 % 2 == 0;
    double took;
    network_default(online);
    for (unsigned i = 0; i < CANDIDATES; i++) {
        unsigned candidate = (i + number / 4) % CANDIDATES;
        if ((candidate == INTERNET || candidate == INTERNET_NEEDS) && ask_internet)
            took = candidate == INTERNET ? flags_run(contest->internet, online) : needs_run(&contest->internet_needs);
        else if ((candidate == ADDRESS || candidate == ADDRESS_NEEDS) && !ask_internet)
            took = candidate == ADDRESS ? flags_run(contest->address, online) : needs_run(&contest->address_needs);
        else if (candidate == GLIB && contest->glib != NULL)
            took = peer_run(contest->glib, online, &contest->wrong[GLIB]);
        else if (candidate == LIBNL && contest->libnl != NULL)
            took = peer_run(contest->libnl, online, &contest->wrong[LIBNL]);
        else
            continue;
        if (measured)
            samples_add(&contest->times[candidate], took);
    }
    /* The one whose turn it was not has events waiting, which are not to be counted the next time. */
    drain(ask_internet ? contest->address_needs.events : contest->internet_needs.events);
}

void row_after_change(void)
{
    static const char *const names[CANDIDATES] = {
        [INTERNET] = "libreach, get_flags of 0.0.0.0",       [INTERNET_NEEDS] = "what 0.0.0.0 needs, by hand",
        [ADDRESS] = "libreach, get_flags of an address",     [ADDRESS_NEEDS] = "what an address needs, by hand",
        [GLIB] = "GLib, handle events and can_reach",        [LIBNL] = "libnl, handle events and search",
    };
    static const int references[CANDIDATES] = {
        [INTERNET] = INTERNET_NEEDS,   [INTERNET_NEEDS] = INTERNET_NEEDS, [ADDRESS] = ADDRESS_NEEDS,
        [ADDRESS_NEEDS] = ADDRESS_NEEDS, [GLIB] = ADDRESS_NEEDS,          [LIBNL] = ADDRESS_NEEDS,
    };
    /* One destination in each half of the IPv4 space and of 2000::/3. */
    static const char *const halves[] = {"100.64.0.1", "203.0.113.1"};
    static const char *const halves6[] = {"2001:db8::1", "3fff::1"};
    static struct contest contest;
    unsigned changes = bench_rounds(4000, 600);

    contest.internet = address_target("0.0.0.0");
    contest.address = address_target(PEER_ADDRESS);
    contest.glib = load("glib");
    contest.libnl = load("libnl");
    needs_open(&contest.internet_needs);
    batch_barrier(&contest.internet_needs.batch);
    for (size_t i = 0; i < 2; i++) {
        unsigned char address6[16];
        uint32_t address = address_bits(halves[i]);
        inet_pton(AF_INET6, halves6[i], address6);
        batch_route(&contest.internet_needs.batch, AF_INET, &address, 0);
        batch_route(&contest.internet_needs.batch, AF_INET6, address6, 0);
    }
    needs_open(&contest.address_needs);
    uint32_t address = address_bits(PEER_ADDRESS);
    batch_barrier(&contest.address_needs.batch);
    batch_route(&contest.address_needs.batch, AF_INET, &address, 0);

    for (unsigned i = 0; i < changes + 40; i++)
        contest_change(&contest, i, i >= 40);
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (contest.times[i].count == 0)
            continue;
        bench_report("after-change", names[i], "time", "ns", &contest.times[i], names[references[i]],
                     &contest.times[references[i]]);
        if (contest.wrong[i] != 0)
            bench_note("after-change", "%s: %u of %zu answers were wrong", names[i], contest.wrong[i],
                       contest.times[i].count);
    }
}
