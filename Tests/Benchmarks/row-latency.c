/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * From a change to the callback. The default route is removed and added again; the clock starts before the request is
 * sent to the kernel and stops in the candidate's callback. The candidates take turns in blocks, each in a process of
 * its own, and only the one whose turn it is exists: nobody is woken by a change that is not meant for him.
 */
#include <string.h>

#include "agent.h"
#include "bench.h"
#include "network.h"

/*
 * A little more than libreach's shortest time between two looks in a storm. Changes that follow each other faster are
 * looked at together, on purpose, and would not measure the way from a change to the callback.
 */
#define PAUSE INT64_C(12000000)
#define BLOCK 100
#define WARM_UP 4

struct racer {
    const char *peer;
    const char *name;
    unsigned share; /* takes part in one of so many blocks */
    struct samples times[AGENT_STAGES];
    unsigned missed;
    unsigned wrong;
    bool out;
};

static uint64_t number; /* of the last change */
static bool online = true;

static void race(struct racer *racer, int stages)
{
    struct agent agent = {.stages = stages};
    if (racer->out || bench_peer_path(racer->peer) == NULL)
        return;
    if (!agent_start(&agent, bench_peer_path(racer->peer), 1, 20000)) {
        bench_note("latency", "%s does not work here", racer->name);
        racer->out = true;
        return;
    }
    int64_t next = bench_now() + PAUSE;
    for (unsigned i = 0; i < BLOCK + WARM_UP; i++, next += PAUSE) {
        bench_until(next);
        agent_arm(&agent, ++number);
        online = !online;
        int64_t begin = bench_now();
        network_default(online);
        if (!agent_wait(&agent, number, 1000)) {
            racer->missed++;
            racer->out = racer->missed > 2;
            if (racer->out)
                break;
            next = bench_now();
            continue;
        }
        racer->wrong += atomic_load(&agent.board->online) != online;
        for (int stage = 0; stage < stages && i >= WARM_UP; stage++)
            samples_add(&racer->times[stage], (double)(agent.board->stamp[stage] - begin));
    }
    agent_stop(&agent);
}

static void report(const char *name, const struct samples *times, const struct samples *reference)
{
    static const char reference_name[] = "raw recv and one lookup";
    if (times->count == 0)
        return;
    bench_report_one("latency", name, "p50", "ns", samples_quantile(times, 0.5), reference_name,
                     samples_quantile(reference, 0.5));
    bench_report_one("latency", name, "p99", "ns", samples_quantile(times, 0.99), reference_name,
                     samples_quantile(reference, 0.99));
}

void row_latency(void)
{
    /* Qt's backend is GLib's monitor with one more hand-over; fewer blocks show that as well. */
    struct racer racers[] = {
        {.peer = "raw", .name = "raw recv and one lookup", .share = 1},
        {.peer = "reach", .name = "libreach, 0.0.0.0", .share = 1},
        {.peer = "reach-address", .name = "libreach, an address", .share = 1},
        {.peer = "libnl", .name = "libnl", .share = 1},
        {.peer = "glib", .name = "GLib", .share = 1},
        {.peer = "qt", .name = "Qt", .share = 4},
    };
    const size_t count = sizeof racers / sizeof racers[0];
    unsigned blocks = bench_rounds(20, 1);
    for (unsigned block = 0; block < blocks; block++)
        for (size_t i = 0; i < count; i++) {
            struct racer *racer = &racers[(i + block) % count];
            if (block % racer->share == 0)
                race(racer, strcmp(racer->peer, "raw") == 0 ? 2 : 1);
        }

    const struct samples *reference = &racers[0].times[1];
    report("raw recv alone", &racers[0].times[0], reference);
    for (size_t i = 0; i < count; i++) {
        report(racers[i].name, &racers[i].times[i == 0 ? 1 : 0], reference);
        if (racers[i].missed != 0)
            bench_note("latency", "%s: %u changes were not reported within a second", racers[i].name, racers[i].missed);
        if (racers[i].wrong != 0)
            bench_note("latency", "%s: %u of %zu reports were wrong", racers[i].name, racers[i].wrong,
                       racers[i].times[0].count);
    }
}
