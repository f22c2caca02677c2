/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 *     bench-agent PEER.so footprint                       what it costs to load, to ask once and to watch
 *     bench-agent PEER.so start                           how long the first answer takes, and its memory
 *     bench-agent PEER.so watch TARGETS BOARD EVENT STOP  watches, and stamps changes on the shared board
 *
 * It is linked to libc only, so that everything a candidate brings with it is counted as the candidate's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "bench.h"
#include "peer.h"

static struct board *board;
static int event = -1;
static const struct peer *candidate;

static const struct peer *load(const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL)
        bench_fail("%s", dlerror());
    return dlsym(object, "peer");
}

static void wake(void)
{
    uint64_t one = 1;
    if (write(event, &one, sizeof one) != (ssize_t)sizeof one)
        abort();
}

/* Runs on the candidate's thread; the time is taken first. */
static void changed(int stage, int online)
{
    int64_t now = bench_now();
    uint64_t armed = atomic_load(&board->armed);
    if (stage == 0)
        atomic_fetch_add(&board->reports, 1);
    if (online >= 0)
        atomic_store(&board->online, online);
    if (atomic_load(&board->seen[stage]) == armed)
        return;
    board->stamp[stage] = now;
    atomic_store(&board->seen[stage], armed);
    if (stage == candidate->stages - 1)
        wake();
}

static int watch(const char *path, char **arguments)
{
    char byte;
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[1]), 0);
    event = atoi(arguments[2]);
    if (board == MAP_FAILED)
        bench_fail("the board: %s", strerror(errno));
    candidate = load(path);
    bool watching = candidate != NULL && candidate->watch((unsigned)atoi(arguments[0]), changed);
    if (watching)
        atomic_store(&board->ready, true);
    else
        atomic_store(&board->failed, true);
    wake();
    /* This thread does nothing more until the other end of the pipe is closed. */
    while (read(atoi(arguments[3]), &byte, 1) < 0 && errno == EINTR)
        continue;
    if (watching && candidate->overflows != NULL)
        atomic_store(&board->overflows, candidate->overflows());
    /* Without the candidates' exit handlers: their threads are running. */
    _exit(0);
}

static int start(const char *path)
{
    candidate = load(path);
    long before = bench_memory(getpid(), "VmRSS");
    int64_t begin = bench_now();
    if (!candidate->start() || candidate->check() < 0)
        return 1;
    int64_t end = bench_now();
    printf("nanoseconds %lld\n", (long long)(end - begin));
    printf("cpu %lld\n", (long long)bench_cpu(0));
    printf("growth %ld\n", bench_memory(getpid(), "VmRSS") - before);
    printf("peak %ld\n", bench_memory(getpid(), "VmHWM"));
    fflush(stdout);
    _exit(0);
}

/* Sizes of the shared objects that are mapped, without the first `known` and without the adapter itself. */
struct objects {
    char names[512][256];
    unsigned count;
};

static void list_objects(struct objects *objects, const char *adapter)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        char *name = strchr(line, '/');
        if (name == NULL || strstr(name, ".so") == NULL)
            continue;
        name[strcspn(name, "\n")] = '\0';
        bool known = strcmp(name, adapter) == 0;
        for (unsigned i = 0; i < objects->count && !known; i++)
            known = strcmp(objects->names[i], name) == 0;
        if (!known && objects->count < sizeof objects->names / sizeof objects->names[0])
            snprintf(objects->names[objects->count++], sizeof objects->names[0], "%.255s", name);
    }
    if (maps != NULL)
        fclose(maps);
}

static void print_state(const char *when, long resident, long private)
{
    printf("%s_resident %ld\n", when, bench_memory(getpid(), "VmRSS") - resident);
    printf("%s_private %ld\n", when, bench_memory(getpid(), "Private_Dirty") - private);
    printf("%s_threads %ld\n", when, bench_entries(getpid(), "task"));
    printf("%s_descriptors %ld\n", when, bench_entries(getpid(), "fd"));
}

static void unwatched(int stage, int online)
{
    (void)stage;
    (void)online;
}

static int footprint(const char *path)
{
    static struct objects objects;
    char adapter[4096];
    unsigned known;
    struct stat status;
    long long bytes = 0;
    if (realpath(path, adapter) == NULL)
        bench_fail("%s: %s", path, strerror(errno));
    list_objects(&objects, adapter);
    known = objects.count;
    printf("descriptors_before %ld\n", bench_entries(getpid(), "fd"));
    long resident = bench_memory(getpid(), "VmRSS");
    long private = bench_memory(getpid(), "Private_Dirty");

    int64_t begin = bench_now();
    candidate = load(path);
    int64_t loaded = bench_now();
    printf("dlopen %lld\n", (long long)(loaded - begin));
    print_state("loaded", resident, private);

    begin = bench_now();
    if (!candidate->start() || candidate->check() < 0)
        return 1;
    printf("first_check %lld\n", (long long)(bench_now() - begin));
    print_state("checked", resident, private);
    list_objects(&objects, adapter);
    for (unsigned i = known; i < objects.count; i++)
        if (stat(objects.names[i], &status) == 0)
            bytes += status.st_size;
    printf("objects %u\n", objects.count - known);
    printf("bytes %lld\n", bytes);
    fflush(stdout);
    _exit(0);
}

/* Apart from asking: a process that only watches. */
static int watching(const char *path)
{
    long resident = bench_memory(getpid(), "VmRSS");
    long private = bench_memory(getpid(), "Private_Dirty");
    printf("descriptors_before %ld\n", bench_entries(getpid(), "fd"));
    candidate = load(path);
    if (!candidate->watch(1, unwatched))
        return 1;
    print_state("watching", resident, private);
    fflush(stdout);
    _exit(0);
}

int main(int count, char **arguments)
{
    /* A benchmark that is interrupted leaves nothing running behind. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count == 7 && strcmp(arguments[2], "watch") == 0)
        return watch(arguments[1], arguments + 3);
    if (count == 3 && strcmp(arguments[2], "start") == 0)
        return start(arguments[1]);
    if (count == 3 && strcmp(arguments[2], "footprint") == 0)
        return footprint(arguments[1]);
    if (count == 3 && strcmp(arguments[2], "watching") == 0)
        return watching(arguments[1]);
    fprintf(stderr, "usage: bench-agent PEER.so footprint | start | watching | watch TARGETS BOARD EVENT STOP\n");
    return 2;
}
