/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * From a change to the callback. The default route is removed and added again; the clock starts before the request is
 * sent to the kernel and stops in the candidate's callback. Each candidate is in a process and a network of its own,
 * and the changes go round: one for the first, one for the second, and so on. So all meet the same noise, and nobody
 * is woken by a change that is not meant for him.
 */
#include <string.h>

#include "agent.h"
#include "bench.h"
#include "network.h"

/*
 * A little more than libreach's shortest time between two looks in a storm must lie between two changes for one
 * candidate. Changes that follow each other faster are looked at together, on purpose, and would not measure the way
 * to the callback.
 */
#define PAUSE INT64_C(12000000)
#define WARM_UP 10

struct racer {
    const char *peer;
    const char *name;
    int stages;
    struct agent agent;
    struct network network;
    struct samples times[AGENT_STAGES];
    unsigned missed;
    unsigned wrong;
    bool heard;
    bool out;
};

static void enter(struct racer *racer)
{
    racer->out = true;
    if (bench_peer_path(racer->peer) == NULL)
        return;
    network_new();
    network_scene();
    racer->network = network_current();
    racer->agent.stages = racer->stages;
    racer->out = !agent_start(&racer->agent, bench_peer_path(racer->peer), 1, 20000);
    if (racer->out)
        bench_note("latency", "%s does not work here", racer->name);
}

static void change(struct racer *racer, uint64_t number, bool online, bool measured)
{
    struct agent *agent = &racer->agent;
    network_use(racer->network);
    agent_arm(agent, number);
    int64_t begin = bench_now();
    network_default(online);
    if (!agent_wait(agent, number, 1000)) {
        racer->missed++;
        /* One that never reported does not report here; one that did has lost changes, and may find back. */
        racer->out = !racer->heard || racer->missed > 5;
        if (racer->out)
            agent_stop(agent);
        return;
    }
    racer->heard = true;
    racer->wrong += atomic_load(&agent->board->online) != online;
    for (int stage = 0; stage < racer->stages && measured; stage++)
        samples_add(&racer->times[stage], (double)(agent->board->stamp[stage] - begin));
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
    struct racer racers[] = {
        {.peer = "raw", .name = "raw recv and one lookup", .stages = 2},
        {.peer = "reach", .name = "libreach, 0.0.0.0", .stages = 1},
        {.peer = "reach-address", .name = "libreach, an address", .stages = 1},
        {.peer = "libnl", .name = "libnl", .stages = 1},
        {.peer = "glib", .name = "GLib", .stages = 1},
        {.peer = "qt", .name = "Qt", .stages = 1},
    };
    const size_t count = sizeof racers / sizeof racers[0];
    unsigned changes = WARM_UP + bench_rounds(2000, 200);
    size_t taking_part = 0;
    for (size_t i = 0; i < count; i++)
        enter(&racers[i]);

    int64_t next = bench_now();
    for (unsigned number = 1; number <= changes; number++) {
        taking_part = 0;
        for (size_t i = 0; i < count; i++)
            taking_part += !racers[i].out;
        for (size_t i = 0; i < count; i++) {
            /*
             * Each begins a round as often as every other; whoever is first in the next may just have been last but
             * one.
             */
            struct racer *racer = &racers[(i + number) % count];
            if (racer->out)
                continue;
            next += taking_part > 2 ? PAUSE / (int64_t)(taking_part - 1) : PAUSE;
            if (next < bench_now())
                next = bench_now();
            bench_until(next);
            change(racer, number, number % 2 == 0, number > WARM_UP);
        }
    }

    const struct samples *reference = &racers[0].times[1];
    report("raw recv alone", &racers[0].times[0], reference);
    for (size_t i = 0; i < count; i++) {
        report(racers[i].name, &racers[i].times[i == 0 ? 1 : 0], reference);
        if (racers[i].missed != 0 && !racers[i].heard)
            bench_note("latency", "%s does not report changes here", racers[i].name);
        else if (racers[i].missed != 0)
            bench_note("latency", "%s: %u changes were not reported within a second", racers[i].name, racers[i].missed);
        if (!racers[i].out)
            agent_stop(&racers[i].agent);
        if (racers[i].wrong != 0)
            bench_note("latency", "%s: %u of %zu reports were wrong", racers[i].name, racers[i].wrong,
                       racers[i].times[0].count);
    }
}
