/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "threads.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void *send_signals(void *argument)
{
    struct nuisance *nuisance = argument;
    while (!atomic_load(&nuisance->stop)) {
        pthread_kill(nuisance->victim, SIGUSR1);
        sched_yield();
    }
    return NULL;
}

void nuisance_begin(struct nuisance *nuisance, pthread_t victim)
{
    nuisance->victim = victim;
    atomic_init(&nuisance->stop, false);
    require_int(pthread_create(&nuisance->sender, NULL, send_signals, nuisance), 0);
}

void nuisance_end(struct nuisance *nuisance)
{
    atomic_store(&nuisance->stop, true);
    require_int(pthread_join(nuisance->sender, NULL), 0);
}

static void *drive_anvil(void *argument)
{
    struct anvil *anvil = argument;
    while (!atomic_load(&anvil->stop)) {
        require(reach_queue_dispatch(anvil->queues[1], 10) >= 0);
    }
    return NULL;
}

void anvil_begin(struct anvil *anvil, unsigned hammers, void *(*hammer)(void *anvil))
{
    require(hammers < sizeof anvil->threads / sizeof anvil->threads[0]);
    atomic_init(&anvil->stop, false);
    anvil->count = 0;
    while (anvil->count < hammers) {
        require_int(pthread_create(&anvil->threads[anvil->count++], NULL, hammer, anvil), 0);
    }
    if (anvil->queues[1] != anvil->queues[0]) {
        require_int(pthread_create(&anvil->threads[anvil->count++], NULL, drive_anvil, anvil), 0);
    }
}

void anvil_end(struct anvil *anvil)
{
    atomic_store(&anvil->stop, true);
    while (anvil->count > 0) {
        require_int(pthread_join(anvil->threads[--anvil->count], NULL), 0);
    }
}

void anvil_strike(struct anvil *anvil, unsigned hammers, void *(*hammer)(void *anvil), const char *change,
                  const char *back)
{
    const char *wish = getenv("REACH_TEST_HAMMER_SECONDS");
    int64_t duration = wish == NULL ? 1500 : (int64_t)atoi(wish) * 1000;
    if (wish != NULL) {
        alarm((unsigned)(duration / 1000 + 600));
    }
    anvil->queues[0] = reach_queue_create("anvil");
    anvil->queues[1] = reach_queue_create_manual();
    anvil_begin(anvil, hammers, hammer);
    for (int64_t end = now_ms() + duration; now_ms() < end;) {
        network(change);
        network(back);
    }
    anvil_end(anvil);
}

void anvil_release(struct anvil *anvil)
{
    while (reach_queue_dispatch(anvil->queues[1], 0) > 0) {
    }
    require(reach_queue_flush(anvil->queues[0]));
    reach_queue_release(anvil->queues[0]);
    reach_queue_release(anvil->queues[1]);
}

void lock_create(pthread_mutex_t *lock, pthread_cond_t *changed)
{
    pthread_condattr_t attributes;
    require_int(pthread_condattr_init(&attributes), 0);
    require_int(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC), 0);
    require_int(pthread_cond_init(changed, &attributes), 0);
    require_int(pthread_mutex_init(lock, NULL), 0);
    pthread_condattr_destroy(&attributes);
}

unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state;
}
