/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* A line of a file that begins with this, without it; empty when the file is gone, as those of threads may be. */
static void read_line(char *text, size_t size, const char *beginning, const char *format, ...)
{
    char path[300], line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    text[0] = '\0';
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, beginning, strlen(beginning)) == 0) {
            snprintf(text, size, "%s", line + strlen(beginning));
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

#ifdef HAS_THREAD_SANITIZER

/* Such a thread blocks signals, as the library's do, and has no name but the program's, as the tests' have. */
static bool may_be_sanitizers(const char *task)
{
    char program[64], name[64], blocked[64];
    read_line(program, sizeof program, "", "/proc/self/comm");
    read_line(name, sizeof name, "", "/proc/self/task/%s/comm", task);
    read_line(blocked, sizeof blocked, "SigBlk:", "/proc/self/task/%s/status", task);
    return (strtoull(blocked, NULL, 16) >> (SIGTERM - 1) & 1) != 0 && strcmp(name, program) == 0;
}

/*
 * The thread sanitizer has threads of its own: one begins with a fork, and one before the first of anybody else's. What
 * they do is to sleep. A thread of the library's is like them until it has given itself its name, which is waited for.
 */
static bool is_sanitizers(const char *task)
{
    int64_t end = now_ms() + deadline_ms();
    while (may_be_sanitizers(task)) {
        char call[64];
        read_line(call, sizeof call, "", "/proc/self/task/%s/syscall", task);
        long number = atol(call);
        if (number == SYS_nanosleep || number == SYS_clock_nanosleep) {
            return true;
        }
        require_message(now_ms() < end, "a thread without a name does %s", call);
        sched_yield();
    }
    return false;
}

#else

static bool is_sanitizers(const char *task)
{
    (void)task;
    return false;
}

#endif

size_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    require_message(tasks != NULL, "/proc/self/task: %s", strerror(errno));
    size_t count = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        count += task->d_name[0] != '.' && !is_sanitizers(task->d_name);
    }
    closedir(tasks);
    return count;
}

long count_context_switches(void)
{
    DIR *tasks = opendir("/proc/self/task");
    require_message(tasks != NULL, "/proc/self/task: %s", strerror(errno));
    long sum = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        if (task->d_name[0] == '.' || atoi(task->d_name) == (int)gettid() || is_sanitizers(task->d_name)) {
            continue;
        }
        char wanted[64], forced[64];
        read_line(wanted, sizeof wanted, "voluntary_ctxt_switches:", "/proc/self/task/%s/status", task->d_name);
        read_line(forced, sizeof forced, "nonvoluntary_ctxt_switches:", "/proc/self/task/%s/status", task->d_name);
        sum += atol(wanted) + atol(forced);
    }
    closedir(tasks);
    return sum;
}

void wait_threads(size_t at_most)
{
    int64_t end = now_ms() + deadline_ms();
    while (count_threads() > at_most) {
        require_message(now_ms() < end, "there are still %zu threads, not %zu", count_threads(), at_most);
        sched_yield();
    }
}

rlim_t limit_descriptors(rlim_t number)
{
    struct rlimit limit;
    require_int(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = number;
    require_int(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}
