/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What callbacks of several kinds did, as lines of text in the order in which they did it, so that one comparison says
 * what came, what it said, whose it was, and whether info was released after it and no more than once.
 */
#ifndef REACH_TESTS_JOURNAL_H
#define REACH_TESTS_JOURNAL_H

#include "support.h"

struct journal;

struct journal *journal_create(void);
void journal_free(struct journal *journal);

/* Adds a line. From any thread. */
void journal_write(struct journal *journal, const char *format, ...) PRINTF_LIKE(2, 3);

/* How many lines there are in all, and how many of them were not taken yet. */
size_t journal_count(struct journal *journal);
size_t journal_pending(struct journal *journal);

/*
 * Takes the next line into text; waits for it, and fails the scenario when none comes. For a manual queue, which nobody
 * else drives, queue is dispatched meanwhile; for a thread queue hand in NULL.
 */
void journal_next(struct journal *journal, reach_queue *manual, char *text, size_t size);

/* Waits until there are so many lines in all. */
void journal_wait(struct journal *journal, reach_queue *manual, size_t count);

/* The next line is this one; waits for it. */
#define require_line(journal, manual, ...) require_line_at(__FILE__, __LINE__, journal, manual, __VA_ARGS__)
void require_line_at(const char *file, int line, struct journal *journal, reach_queue *manual, const char *format, ...)
    PRINTF_LIKE(5, 6);

/* No line is waiting to be taken. */
#define require_silence(journal) require_silence_at(__FILE__, __LINE__, journal)
void require_silence_at(const char *file, int line, struct journal *journal);

#endif
