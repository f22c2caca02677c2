/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static size_t count_entries(const char *directory)
{
    DIR *entries = opendir(directory);
    require_message(entries != NULL, "%s: %s", directory, strerror(errno));
    size_t count = 0;
    while (readdir(entries) != NULL) {
        count += 1;
    }
    closedir(entries);
    return count - 2;
}

size_t count_descriptors(void)
{
    /* Without the one that reads the directory. */
    return count_entries("/proc/self/fd") - 1;
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif

#ifdef HAS_THREAD_SANITIZER

/*
 * The thread sanitizer has a thread of its own in each process, which it begins with the first fork or thread. It blocks
 * the signals that are sent, and not those that tell of faults; nobody else does that.
 */
static size_t count_sanitizer_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    require_message(tasks != NULL, "/proc/self/task: %s", strerror(errno));
    size_t count = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        char path[300], line[256];
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *status = fopen(path, "re");
        unsigned long long blocked = 0;
        while (status != NULL && fgets(line, sizeof line, status) != NULL) {
            sscanf(line, "SigBlk: %llx", &blocked);
        }
        if (status != NULL) {
            fclose(status);
        }
        bool blocks_sent = (blocked >> (SIGTERM - 1) & 1) != 0;
        bool blocks_faults = (blocked >> (SIGSEGV - 1) & 1) != 0;
        count += blocks_sent && !blocks_faults;
    }
    closedir(tasks);
    return count;
}

#else

static size_t count_sanitizer_threads(void)
{
    return 0;
}

#endif

size_t count_threads(void)
{
    /* In this order, a thread that begins or ends in between makes the number greater, never smaller. */
    size_t sanitizers = count_sanitizer_threads();
    return count_entries("/proc/self/task") - sanitizers;
}

void wait_threads(size_t at_most)
{
    int64_t end = now_ms() + deadline_ms();
    while (count_threads() > at_most) {
        require_message(now_ms() < end, "there are still %zu threads, not %zu", count_threads(), at_most);
        sched_yield();
    }
}
