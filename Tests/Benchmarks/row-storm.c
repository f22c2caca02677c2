/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Storms: host routes that are nobody's business are added and removed in bulk, first at a pace that a plain loop can
 * follow, then as fast as the kernel takes them. Each candidate is in a process of its own and meets its own storm, in
 * several parts taken in turns. In the middle of each part the default route is taken away and at its end given back,
 * so that a candidate has something to report, and what it believes in the end can be compared with the truth.
 */
#include <math.h>
#include <string.h>

#include "agent.h"
#include "bench.h"
#include "network.h"

#define MESSAGES 200000
#define PARTS 4 /* of the paced storm */
#define STORMS 3 /* without a pace, each of all the messages */
/* Messages per second of the paced storm, and how many go in one system call. */
#define PACE 40000
#define BURST 125 /* divides half a part in two: every route that is added is removed again */
#define FIRST_ROUTE 0x0a000000u /* 10.0.0.0 */

struct weather {
    const char *row;
    bool paced;
};

struct listener {
    const char *peer; /* NULL: nobody listens, to see what the storm itself costs */
    const char *name;
    bool works;
    struct samples cpu;      /* of the candidate, for each part, in ns */
    struct samples sender;   /* of the sender */
    struct samples switches; /* context switches of the candidate while it stormed */
    struct samples reports;  /* without those of the default route */
    unsigned wrong;
    uint64_t overflows;
};

/* Returns the CPU time of this process, which is the sender's. */
static int64_t storm(uint32_t messages, bool paced)
{
    int64_t cpu = bench_cpu(0);
    int64_t next = bench_now();
    for (uint32_t sent = 0; sent < messages; sent += BURST) {
        uint32_t first = FIRST_ROUTE + sent / (2 * BURST) * BURST;
        network_bulk(first, BURST, sent / BURST % 2 == 0);
        next += INT64_C(1000000000) * BURST / PACE;
        if (paced)
            bench_until(next);
    }
    return bench_cpu(0) - cpu;
}

/* A change after the storm that must be reported; when it was, everything before it has been handled. */
static bool settle(struct agent *agent, uint64_t *number, bool online)
{
    agent_arm(agent, ++*number);
    network_default(online);
    return agent_wait(agent, *number, 2000) && atomic_load(&agent->board->online) == online;
}

static uint32_t part_messages(const struct weather *weather)
{
    return bench_rounds(MESSAGES, MESSAGES / 5) / (weather->paced ? PARTS : 1);
}

static void part(struct listener *listener, const struct weather *weather)
{
    static uint64_t number;
    struct agent agent = {.stages = 1};
    uint32_t messages = part_messages(weather);
    if (listener->peer == NULL) {
        samples_add(&listener->sender, (double)storm(messages, weather->paced));
        return;
    }
    if (!listener->works)
        return;
    if (strncmp(listener->peer, "raw", 3) == 0)
        agent.stages = 2;
    listener->works = agent_start(&agent, bench_peer_path(listener->peer), 10, 20000);
    if (!listener->works) {
        bench_note(weather->row, "%s does not work here", listener->name);
        return;
    }
    /* Two changes first, so that nothing that is paid once is counted as a part of the storm. */
    bench_until(bench_now() + 20000000);
    listener->works = settle(&agent, &number, false);
    bench_until(bench_now() + 20000000);
    listener->works = settle(&agent, &number, true) && listener->works;
    if (!listener->works) {
        bench_note(weather->row, "%s does not report changes here", listener->name);
        agent_stop(&agent);
        return;
    }

    uint64_t reports = atomic_load(&agent.board->reports);
    int64_t cpu = bench_cpu(agent.process);
    int64_t sender = 0;
    long switches = 0;
    bool right = true;
    for (int online = 0; online < 2; online++) {
        /* It has reported; going to sleep after that is not the storm's either. */
        if (!online || weather->paced)
            bench_until(bench_now() + 20000000);
        long before = bench_switches(agent.process);
        sender += storm(messages / 2, weather->paced);
        /* What the change of the default route costs is not the storm's. */
        switches += bench_switches(agent.process) - before;
        if (online || weather->paced)
            right = settle(&agent, &number, online) && right;
        else
            network_default(false);
    }
    cpu = bench_cpu(agent.process) - cpu;
    reports = atomic_load(&agent.board->reports) - reports;
    samples_add(&listener->cpu, (double)cpu);
    samples_add(&listener->sender, (double)sender);
    samples_add(&listener->switches, (double)switches);
    samples_add(&listener->reports, reports > 2 ? (double)reports - 2 : 0);
    listener->wrong += !right;
    listener->overflows += agent_stop(&agent);
}

/* Figures for the number of messages that the row is about, whatever the parts had. */
static void report(const struct weather *weather, const struct listener *listener, const struct listener *reference,
                   const struct listener *nobody)
{
    const char *name = listener->name;
    double parts = weather->paced ? PARTS : 1;
    if (listener != nobody && (!listener->works || listener->cpu.count == 0))
        return;
    bench_report(weather->row, name, "sender's cpu", "ns", &listener->sender, nobody->name, &nobody->sender);
    if (listener == nobody)
        return;
    bench_report(weather->row, name, "cpu", "ns", &listener->cpu, reference->name, &reference->cpu);
    bench_report_one(weather->row, name, "context switches", "", samples_quantile(&listener->switches, 0.5) * parts,
                     NULL, NAN);
    bench_report_one(weather->row, name, "needless reports", "", samples_quantile(&listener->reports, 0.5), NULL, NAN);
    bench_report_one(weather->row, name, "wrong at the end", "", listener->wrong, NULL, NAN);
    bench_report_one(weather->row, name, "overflows", "", (double)listener->overflows, NULL, NAN);
}

static void scale(struct samples *samples, double factor)
{
    for (size_t i = 0; i < samples->count; i++)
        samples->values[i] *= factor;
}

static void run(const struct weather *weather)
{
    /* Qt is not here: its backend on GLib's monitor never reports a change, as the latency row shows. */
    struct listener listeners[] = {
        {.peer = "raw", .name = "raw recv loop"},
        {.peer = "raw-filtered", .name = "raw, filtered"},
        {.peer = "reach", .name = "libreach"},
        {.peer = "libnl", .name = "libnl"},
        {.peer = "glib", .name = "GLib"},
        {.peer = NULL, .name = "nobody"},
    };
    const size_t count = sizeof listeners / sizeof listeners[0];
    uint32_t messages = part_messages(weather);
    for (size_t i = 0; i < count; i++)
        listeners[i].works = listeners[i].peer != NULL && bench_peer_path(listeners[i].peer) != NULL;
    for (unsigned round = 0; round < (weather->paced ? PARTS : bench_rounds(STORMS, 1)); round++)
        for (size_t i = 0; i < count; i++)
            part(&listeners[(i + round) % count], weather);
    for (size_t i = 0; i < count; i++) {
        scale(&listeners[i].cpu, (double)MESSAGES / messages);
        scale(&listeners[i].sender, (double)MESSAGES / messages);
    }
    for (size_t i = 0; i < count; i++)
        report(weather, &listeners[i], &listeners[0], &listeners[count - 1]);
}

void row_storm(void)
{
    run(&(struct weather){.row = "storm-paced", .paced = true});
    run(&(struct weather){.row = "storm-unpaced", .paced = false});
}
