/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What a candidate costs the process it lives in: to load, to ask once, to watch; while nothing happens; and for the
 * first answer on a machine with very many routes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"
#include "bench.h"
#include "network.h"

static const struct {
    const char *peer;
    const char *name;
} candidates[] = {
    {"reach", "libreach"}, {"raw", "raw netlink"}, {"libnl", "libnl"}, {"glib", "GLib"}, {"qt", "Qt"},
};
#define CANDIDATES (sizeof candidates / sizeof candidates[0])

/* ------------------------------------------------------------------------------------------------- footprint --- */

#define FIGURES 20

struct figures {
    char keys[FIGURES][64];
    struct samples values[FIGURES];
    unsigned count;
    bool works;
};

static void take(void *context, const char *key, double value)
{
    struct figures *figures = context;
    unsigned i = 0;
    while (i < figures->count && strcmp(figures->keys[i], key) != 0)
        i++;
    if (i == FIGURES)
        bench_fail("too many figures");
    if (i == figures->count) {
        snprintf(figures->keys[i], sizeof figures->keys[i], "%s", key);
        figures->count++;
    }
    samples_add(&figures->values[i], value);
}

static const struct samples *figure(const struct figures *figures, const char *key)
{
    static const struct samples none = {0};
    for (unsigned i = 0; i < figures->count; i++)
        if (strcmp(figures->keys[i], key) == 0)
            return &figures->values[i];
    return &none;
}

void row_footprint(void)
{
    static const struct {
        const char *key;
        const char *measure;
        const char *unit;
    } measures[] = {
        {"bytes", "size of what is loaded", "B"},
        {"objects", "shared objects loaded", ""},
        {"dlopen", "dlopen", "ns"},
        {"loaded_resident", "resident growth, loaded", "KiB"},
        {"first_check", "first check", "ns"},
        {"checked_resident", "resident growth, after a check", "KiB"},
        {"checked_private", "private memory, after a check", "KiB"},
        {"checked_threads", "threads, after a check", ""},
        {"checked_descriptors", "descriptors, after a check", ""},
        {"watching_resident", "resident growth, watching", "KiB"},
        {"watching_private", "private memory, watching", "KiB"},
        {"watching_threads", "threads, watching", ""},
        {"watching_descriptors", "descriptors, watching", ""},
    };
    static struct figures figures[CANDIDATES];
    unsigned rounds = bench_rounds(15, 3);
    for (size_t i = 0; i < CANDIDATES; i++)
        figures[i].works = bench_peer_path(candidates[i].peer) != NULL;
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < CANDIDATES; i++) {
            const char *path = bench_peer_path(candidates[i].peer);
            if (figures[i].works)
                figures[i].works = agent_print(path, "footprint", 20000, take, &figures[i]) &&
                                   agent_print(path, "watching", 20000, take, &figures[i]);
        }
    for (size_t m = 0; m < sizeof measures / sizeof measures[0]; m++)
        for (size_t i = 0; i < CANDIDATES; i++) {
            const struct samples *values = figure(&figures[i], measures[m].key);
            if (!figures[i].works || values->count == 0)
                continue;
            /* A process has descriptors of its own: only what was added is the candidate's. */
            if (strstr(measures[m].key, "descriptors") != NULL)
                bench_report_one("footprint", candidates[i].name, measures[m].measure, measures[m].unit,
                                 samples_quantile(values, 0.5) -
                                     samples_quantile(figure(&figures[i], "descriptors_before"), 0.5),
                                 NULL, NAN);
            else
                bench_report("footprint", candidates[i].name, measures[m].measure, measures[m].unit, values,
                             candidates[0].name, figure(&figures[0], measures[m].key));
        }
    for (size_t i = 0; i < CANDIDATES; i++)
        if (!figures[i].works && bench_peer_path(candidates[i].peer) != NULL)
            bench_note("footprint", "%s does not work here", candidates[i].name);
}

/* ------------------------------------------------------------------------------------------------------ idle --- */

#define WATCHED 100

void row_idle(void)
{
    struct agent agents[CANDIDATES];
    long switches[CANDIDATES];
    int64_t cpu[CANDIDATES];
    bool works[CANDIDATES];
    int64_t seconds = bench_quick() ? 2 : 10;
    for (size_t i = 0; i < CANDIDATES; i++) {
        const char *path = bench_peer_path(candidates[i].peer);
        agents[i].stages = 1;
        works[i] = path != NULL && agent_start(&agents[i], path, WATCHED, 20000);
    }
    /* What a candidate does once after its start is not idleness. */
    bench_until(bench_now() + 1000000000);
    for (size_t i = 0; i < CANDIDATES; i++)
        if (works[i]) {
            switches[i] = bench_switches(agents[i].process);
            cpu[i] = bench_cpu(agents[i].process);
        }
    bench_until(bench_now() + seconds * 1000000000);
    for (size_t i = 0; i < CANDIDATES; i++) {
        if (!works[i])
            continue;
        bench_report_one("idle", candidates[i].name, "context switches", "",
                         (double)(bench_switches(agents[i].process) - switches[i]), NULL, NAN);
        bench_report_one("idle", candidates[i].name, "cpu", "ns", (double)(bench_cpu(agents[i].process) - cpu[i]), NULL,
                         NAN);
        bench_report_one("idle", candidates[i].name, "threads", "",
                         (double)bench_entries(agents[i].process, "task") - 1, NULL, NAN);
        agent_stop(&agents[i]);
    }
}

/* ----------------------------------------------------------------------------------------------------- start --- */

#define FIRST_ROUTE 0x0a000000u /* 10.0.0.0 */

struct starts {
    struct samples time;
    struct samples growth;
};

static void take_start(void *context, const char *key, double value)
{
    struct starts *starts = context;
    if (strcmp(key, "nanoseconds") == 0)
        samples_add(&starts->time, value);
    else if (strcmp(key, "growth") == 0)
        samples_add(&starts->growth, value);
}

/* Starts every candidate in turns; a slow one gets fewer turns, and is stopped when it takes too long. */
static void start_all(struct starts *starts, unsigned rounds, int deadline_ms, bool *slow)
{
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < CANDIDATES; i++) {
            const char *path = bench_peer_path(candidates[i].peer);
            if (path == NULL || slow[i])
                continue;
            int64_t begin = bench_now();
            bool done = agent_print(path, "start", deadline_ms, take_start, &starts[i]);
            slow[i] = !done || (round > 0 && bench_now() - begin > 500000000);
            if (!done)
                samples_free(&starts[i].time);
        }
}

static void dump(struct samples *times)
{
    int socket = network_socket();
    int64_t begin = bench_now();
    network_dump(socket);
    samples_add(times, (double)(bench_now() - begin));
    close(socket);
}

void row_start(void)
{
    static struct starts empty[CANDIDATES];
    static struct starts full[CANDIDATES];
    struct samples dumps = {0};
    bool slow[2][CANDIDATES] = {{false}};
    unsigned routes = bench_rounds(1000000, 100000);
    int deadline_ms = bench_full() ? 3600000 : bench_quick() ? 5000 : 15000;

    start_all(empty, bench_rounds(25, 5), deadline_ms, slow[0]);
    network_bulk(FIRST_ROUTE, routes, true);
    start_all(full, bench_rounds(25, 5), deadline_ms, slow[1]);
    for (unsigned i = 0; i < 3; i++)
        dump(&dumps);

    if (routes != 1000000)
        bench_note("start", "with %u routes only", routes);
    for (size_t i = 0; i < CANDIDATES; i++) {
        const char *name = candidates[i].name;
        if (empty[i].time.count == 0)
            continue;
        bench_report("start", name, "no routes", "ns", &empty[i].time, NULL, NULL);
        if (full[i].time.count != 0) {
            bench_report("start", name, "many routes", "ns", &full[i].time, "no routes", &empty[i].time);
            bench_report("start", name, "memory, no routes", "KiB", &empty[i].growth, NULL, NULL);
            bench_report("start", name, "memory, many routes", "KiB", &full[i].growth, NULL, NULL);
        } else {
            bench_note("start", "%s was stopped after %d s (BENCH_FULL=1 lets it finish)", name, deadline_ms / 1000);
        }
    }
    bench_report("start", "a dump of all routes", "many routes", "ns", &dumps, NULL, NULL);
}
