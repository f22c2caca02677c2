/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "journal.h"
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct journal {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* on the monotonic clock */
    char **lines;
    size_t count, capacity, taken;
};

struct journal *journal_create(void)
{
    struct journal *journal = calloc(1, sizeof *journal);
    require(journal != NULL);
    lock_create(&journal->lock, &journal->changed);
    return journal;
}

void journal_free(struct journal *journal)
{
    for (size_t index = 0; index < journal->count; index++) {
        free(journal->lines[index]);
    }
    pthread_cond_destroy(&journal->changed);
    pthread_mutex_destroy(&journal->lock);
    free(journal->lines);
    free(journal);
}

void journal_write(struct journal *journal, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    require(vasprintf(&text, format, arguments) >= 0);
    va_end(arguments);
    pthread_mutex_lock(&journal->lock);
    if (journal->count == journal->capacity) {
        journal->capacity = journal->capacity == 0 ? 64 : 2 * journal->capacity;
        journal->lines = realloc(journal->lines, journal->capacity * sizeof *journal->lines);
        require(journal->lines != NULL);
    }
    journal->lines[journal->count++] = text;
    pthread_cond_broadcast(&journal->changed);
    pthread_mutex_unlock(&journal->lock);
}

size_t journal_count(struct journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    size_t count = journal->count;
    pthread_mutex_unlock(&journal->lock);
    return count;
}

size_t journal_pending(struct journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    size_t pending = journal->count - journal->taken;
    pthread_mutex_unlock(&journal->lock);
    return pending;
}

static bool dispatch_until(struct journal *journal, reach_queue *manual, size_t count, int64_t end)
{
    while (journal_count(journal) < count) {
        int64_t left = end - now_ms();
        if (left <= 0) {
            return false;
        }
        int callouts = reach_queue_dispatch(manual, (int)left);
        require_message(callouts >= 0 || errno == EINTR, "reach_queue_dispatch: %s", errno_name(errno));
    }
    return true;
}

/* Whether there are so many lines in time. */
static bool wait_for_lines(struct journal *journal, reach_queue *manual, size_t count)
{
    int64_t end = now_ms() + deadline_ms();
    if (manual != NULL) {
        return dispatch_until(journal, manual, count, end);
    }
    struct timespec until = { .tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000 };
    pthread_mutex_lock(&journal->lock);
    int failure = 0;
    while (journal->count < count && failure == 0) {
        failure = pthread_cond_timedwait(&journal->changed, &journal->lock, &until);
    }
    bool reached = journal->count >= count;
    pthread_mutex_unlock(&journal->lock);
    return reached;
}

void journal_wait(struct journal *journal, reach_queue *manual, size_t count)
{
    require_message(wait_for_lines(journal, manual, count), "%zu lines came in time, not %zu", journal_count(journal),
                    count);
}

/* Takes the next line, which belongs to the journal. NULL when none comes. */
static const char *take(struct journal *journal, reach_queue *manual)
{
    if (!wait_for_lines(journal, manual, journal->taken + 1)) {
        return NULL;
    }
    pthread_mutex_lock(&journal->lock);
    const char *line = journal->lines[journal->taken++];
    pthread_mutex_unlock(&journal->lock);
    return line;
}

void journal_next(struct journal *journal, reach_queue *manual, char *text, size_t size)
{
    const char *line = take(journal, manual);
    require_message(line != NULL, "nothing came in time, after %zu lines", journal->taken);
    snprintf(text, size, "%s", line);
}

void require_line_at(const char *file, int line, struct journal *journal, reach_queue *manual, const char *format, ...)
{
    char *expected = NULL;
    va_list arguments;
    va_start(arguments, format);
    require(vasprintf(&expected, format, arguments) >= 0);
    va_end(arguments);
    const char *actual = take(journal, manual);
    if (actual == NULL) {
        fail_scenario(file, line, "nothing came in time, after %zu lines; \"%s\" was expected", journal->taken,
                      expected);
    }
    if (strcmp(actual, expected) != 0) {
        fail_scenario(file, line, "line %zu is \"%s\", not \"%s\"", journal->taken, actual, expected);
    }
    free(expected);
}

void require_silence_at(const char *file, int line, struct journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    const char *next = journal->count > journal->taken ? journal->lines[journal->taken] : NULL;
    pthread_mutex_unlock(&journal->lock);
    if (next != NULL) {
        fail_scenario(file, line, "\"%s\" came, which should not have come", next);
    }
}
