/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
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

size_t count_threads(void)
{
    return count_entries("/proc/self/task");
}

void wait_threads(size_t at_most)
{
    int64_t end = now_ms() + deadline_ms();
    while (count_threads() > at_most) {
        require_message(now_ms() < end, "there are still %zu threads, not %zu", count_threads(), at_most);
        sched_yield();
    }
}
