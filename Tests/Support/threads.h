/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Threads that make trouble: signals without end, and many threads that do things at random while the network changes.
 */
#ifndef REACH_TESTS_THREADS_H
#define REACH_TESTS_THREADS_H

#include <pthread.h>
#include <stdatomic.h>

#include "support.h"

/* Sends SIGUSR1 to a thread until it is ended; the scenario has installed a handler. */
struct nuisance {
    pthread_t sender, victim;
    atomic_bool stop;
};

void nuisance_begin(struct nuisance *nuisance, pthread_t victim);
void nuisance_end(struct nuisance *nuisance);

/* What is struck: a queue with a thread and one that is driven by hand, and whatever `info` stands for. */
struct anvil {
    reach_queue *queues[2];
    atomic_bool stop; /* the hammers look at it */
    void *info;
    unsigned count;
    pthread_t threads[16];
};

/* Starts so many threads that strike until `stop`, and one that drives the second queue if it is another one. */
void anvil_begin(struct anvil *anvil, unsigned hammers, void *(*hammer)(void *anvil));
void anvil_end(struct anvil *anvil);

/*
 * Makes both queues and has them struck while the network changes to and fro, for a second and a half, or for as many
 * seconds as REACH_TEST_HAMMER_SECONDS says.
 */
void anvil_strike(struct anvil *anvil, unsigned hammers, void *(*hammer)(void *anvil), const char *change,
                  const char *back);

/* Lets what is in line on the queues be done, and releases them. */
void anvil_release(struct anvil *anvil);

/* A lock with a condition on the monotonic clock. */
void lock_create(pthread_mutex_t *lock, pthread_cond_t *changed);

/* A number that is not the thread's last one. */
unsigned next_random(unsigned *state);

#endif
