/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * A candidate in a process of its own, and the memory it shares with the benchmark: whoever measures does not wake,
 * interrupt or slow down whoever is measured.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_STAGES 2

/* One writer for each field: the agent, except for armed. */
struct board {
    _Atomic uint64_t armed;              /* the number of the change that is waited for */
    _Atomic uint64_t seen[AGENT_STAGES]; /* the number of the last change that was stamped */
    int64_t stamp[AGENT_STAGES];         /* when; valid once seen says so */
    _Atomic int online;                  /* the last answer that was reported, -1 before the first */
    _Atomic uint64_t reports;            /* all reports of stage 0, asked for or not */
    _Atomic uint64_t overflows;          /* as the candidate counts them; written when the agent is stopped */
    _Atomic bool ready;                  /* watching has begun */
    _Atomic bool failed;                 /* the candidate does not work here */
};

struct agent {
    pid_t process;
    struct board *board;
    int event; /* an eventfd: ready, failed, or the last stage of an armed change was reached */
    int stop;  /* closing it ends the agent */
    int stages;
};

/* Starts a candidate and waits until it watches. Returns false when it does not work here or takes too long. */
bool agent_start(struct agent *agent, const char *path, unsigned targets, int deadline_ms);
/* Says that a change with this number comes next. */
void agent_arm(struct agent *agent, uint64_t number);
/* Waits until the armed change was reported. Returns false when it was not in time. */
bool agent_wait(struct agent *agent, uint64_t number, int deadline_ms);
/* Ends it. Returns how often it lost events. */
uint64_t agent_stop(struct agent *agent);

/*
 * Runs an agent that prints lines "key value", as for footprint and start, and hands each to take. False if it failed.
 */
bool agent_print(const char *path, const char *mode, int deadline_ms, void (*take)(void *, const char *, double),
                 void *context);

#endif
