/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 *     unshare -Urn bench RESULTS.csv [ROW...]
 *
 * Runs the rows, each in a process and a network namespace of its own, and appends their figures to a file.
 */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "network.h"

struct peer_file bench_peers[16];
size_t bench_peer_count;
char bench_folder[512];

/* In the order in which tables show them. */
static const char *const peer_names[] = {"reach", "reach-address", "raw", "raw-filtered", "libnl", "glib", "qt"};

/*
 * The rows that use little come first, and the one with a million routes last: the kernel is busy with taking them away
 * for a while after their namespace has ended.
 */
static const struct {
    const char *name;
    const char *title;
    void (*run)(void);
} rows[] = {
    {"check", "a check when nothing changed", row_check},
    {"after-change", "a check right after a change", row_after_change},
    {"footprint", "what it costs to load, to ask and to watch", row_footprint},
    {"idle", "watching while nothing happens", row_idle},
    {"latency", "from a change to the callback", row_latency},
    {"storm", "200,000 route messages that do not matter", row_storm},
    {"targets", "10,000 targets", row_many_targets},
    {"start", "the first answer with 1,000,000 routes", row_start},
};

const char *bench_peer_path(const char *name)
{
    for (size_t i = 0; i < bench_peer_count; i++)
        if (strcmp(bench_peers[i].name, name) == 0)
            return bench_peers[i].path;
    return NULL;
}

static void find_peers(void)
{
    char program[500];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        bench_fail("/proc/self/exe: %s", strerror(errno));
    program[length] = '\0';
    snprintf(bench_folder, sizeof bench_folder, "%s", dirname(program));
    for (size_t i = 0; i < sizeof peer_names / sizeof peer_names[0]; i++) {
        struct peer_file *file = &bench_peers[bench_peer_count];
        file->name = peer_names[i];
        snprintf(file->path, sizeof file->path, "%.400s/%s.so", bench_folder, peer_names[i]);
        if (access(file->path, R_OK) == 0)
            bench_peer_count++;
        else
            bench_note("peers", "%s is missing here: its figures are left out (see make bench-deps)", peer_names[i]);
    }
}

static bool wanted(const char *row, int count, char **arguments)
{
    for (int i = 2; i < count; i++)
        if (strcmp(arguments[i], row) == 0)
            return true;
    return count <= 2;
}

int main(int count, char **arguments)
{
    bool good = true;
    if (count < 2) {
        fputs("usage: unshare -Urn bench RESULTS.csv [ROW...]\n", stderr);
        return 2;
    }
    network_must_be_empty();
    bench_results(arguments[1]);
    find_peers();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!wanted(rows[i].name, count, arguments))
            continue;
        int64_t begin = bench_now();
        int status;
        bench_say("  %s: %s", rows[i].name, rows[i].title);
        pid_t process = fork();
        if (process == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            network_new();
            network_scene();
            rows[i].run();
            exit(0);
        }
        while (waitpid(process, &status, 0) < 0 && errno == EINTR)
            continue;
        if (process < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            bench_note(rows[i].name, "this row failed");
            good = false;
        }
        bench_say("    %.1f s", (double)(bench_now() - begin) / 1e9);
    }
    return good ? 0 : 1;
}
