/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "support.h"
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The condition variable counts on the monotonic clock, so that tests that move the other clocks can wait as well. */
struct recorder {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct event *events;
    size_t count, capacity, taken, releases;
};

struct recorder *recorder_create(void)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    require(recorder != NULL);
    lock_create(&recorder->lock, &recorder->changed);
    return recorder;
}

void recorder_free(struct recorder *recorder)
{
    pthread_cond_destroy(&recorder->changed);
    pthread_mutex_destroy(&recorder->lock);
    free(recorder->events);
    free(recorder);
}

void record(struct recorder *recorder, reach_target *target, reach_flags flags)
{
    pthread_mutex_lock(&recorder->lock);
    if (recorder->count == recorder->capacity) {
        recorder->capacity = recorder->capacity == 0 ? 64 : 2 * recorder->capacity;
        recorder->events = realloc(recorder->events, recorder->capacity * sizeof *recorder->events);
        require(recorder->events != NULL);
    }
    recorder->events[recorder->count++] = (struct event){ target, flags, (uint64_t)gettid() };
    pthread_cond_broadcast(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
}

void record_event(reach_target *target, reach_flags flags, void *recorder)
{
    record(recorder, target, flags);
}

void record_release(void *info)
{
    struct recorder *recorder = info;
    pthread_mutex_lock(&recorder->lock);
    recorder->releases += 1;
    pthread_cond_broadcast(&recorder->changed);
    pthread_mutex_unlock(&recorder->lock);
}

static size_t read_locked(struct recorder *recorder, const size_t *value)
{
    pthread_mutex_lock(&recorder->lock);
    size_t result = *value;
    pthread_mutex_unlock(&recorder->lock);
    return result;
}

size_t recorder_count(struct recorder *recorder)
{
    return read_locked(recorder, &recorder->count);
}

size_t recorder_releases(struct recorder *recorder)
{
    return read_locked(recorder, &recorder->releases);
}

size_t recorder_pending(struct recorder *recorder)
{
    pthread_mutex_lock(&recorder->lock);
    size_t result = recorder->count - recorder->taken;
    pthread_mutex_unlock(&recorder->lock);
    return result;
}

/* Waits until *value is at least wanted, driving the manual queue meanwhile if there is one. */
static bool wait_for(struct recorder *recorder, reach_queue *manual, const size_t *value, size_t wanted)
{
    int64_t end = now_ms() + deadline_ms();
    if (manual != NULL) {
        while (read_locked(recorder, value) < wanted) {
            int64_t left = end - now_ms();
            if (left <= 0) {
                return false;
            }
            int callouts = reach_queue_dispatch(manual, (int)left);
            require_message(callouts >= 0 || errno == EINTR, "reach_queue_dispatch: %s", errno_name(errno));
        }
        return true;
    }
    struct timespec until = { .tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000 };
    pthread_mutex_lock(&recorder->lock);
    int failure = 0;
    while (*value < wanted && failure == 0) {
        failure = pthread_cond_timedwait(&recorder->changed, &recorder->lock, &until);
    }
    bool reached = *value >= wanted;
    pthread_mutex_unlock(&recorder->lock);
    return reached;
}

static bool take_event(struct recorder *recorder, reach_queue *manual, struct event *event)
{
    if (!wait_for(recorder, manual, &recorder->count, recorder->taken + 1)) {
        return false;
    }
    pthread_mutex_lock(&recorder->lock);
    *event = recorder->events[recorder->taken++];
    pthread_mutex_unlock(&recorder->lock);
    return true;
}

struct event next_event(struct recorder *recorder, reach_queue *manual)
{
    struct event event;
    require_message(take_event(recorder, manual, &event), "no callback came in time, after %zu", recorder->taken);
    return event;
}

void wait_releases(struct recorder *recorder, reach_queue *manual, size_t count)
{
    require_message(wait_for(recorder, manual, &recorder->releases, count), "info was released %zu times, not %zu",
                    recorder_releases(recorder), count);
}

void require_event_at(const char *file, int line, struct recorder *recorder, reach_queue *manual, reach_target *target,
                      reach_flags flags)
{
    struct event event;
    if (!take_event(recorder, manual, &event)) {
        fail_scenario(file, line, "no callback came in time, after %zu; 0x%x was expected", recorder->taken, flags);
    }
    if (event.target != target) {
        fail_scenario(file, line, "callback %zu is about another target", recorder->taken);
    }
    if (event.flags != flags) {
        fail_scenario(file, line, "callback %zu says 0x%x, not 0x%x", recorder->taken, event.flags, flags);
    }
}

/* --------------------------------------------------------------------------------------------------- barriers --- */

/* Of the benchmarking range (RFC 2544), which no scenario uses for anything else. */
#define BARRIER_ADDRESS "198.18.255.254"

struct barrier {
    reach_target *target;
    reach_queue *queue;
    reach_queue *manual; /* the same, or NULL when it has a thread */
    struct recorder *recorder;
};

struct barrier *barrier_create(reach_queue *queue, bool manual)
{
    struct barrier *barrier = calloc(1, sizeof *barrier);
    require(barrier != NULL);
    barrier->recorder = recorder_create();
    barrier->queue = reach_queue_retain(queue);
    barrier->manual = manual ? queue : NULL;
    barrier->target = target(BARRIER_ADDRESS);
    require(reach_set_callback(barrier->target, record_event, barrier->recorder, NULL));
    require(reach_set_queue(barrier->target, queue));
    return barrier;
}

/* The barrier's target hears of the scenario's own changes as well, so it may have to be told more than once. */
static void wait_for_barrier(struct barrier *barrier, bool local)
{
    while (((next_event(barrier->recorder, barrier->manual).flags & REACH_FLAG_IS_LOCAL_ADDRESS) != 0) != local) {
    }
}

void barrier_pass(struct barrier *barrier)
{
    /* The first callback shows that all earlier messages were read, the second that their round is over. */
    ip("route add local " BARRIER_ADDRESS "/32 dev lo table local\n");
    wait_for_barrier(barrier, true);
    ip("route del local " BARRIER_ADDRESS "/32 dev lo table local\n");
    wait_for_barrier(barrier, false);
}

void barrier_free(struct barrier *barrier)
{
    require(reach_set_queue(barrier->target, NULL));
    /* On a thread queue the second callback may be returning still, and it uses the recorder. */
    require(barrier->manual != NULL || reach_queue_flush(barrier->queue));
    reach_release(barrier->target);
    reach_queue_release(barrier->queue);
    recorder_free(barrier->recorder);
    free(barrier);
}

void require_no_event_at(const char *file, int line, struct recorder *recorder, struct barrier *barrier)
{
    barrier_pass(barrier);
    pthread_mutex_lock(&recorder->lock);
    bool pending = recorder->count > recorder->taken;
    struct event event = pending ? recorder->events[recorder->taken] : (struct event){ 0 };
    pthread_mutex_unlock(&recorder->lock);
    if (pending) {
        fail_scenario(file, line, "a callback came that should not have come, with flags 0x%x", event.flags);
    }
}
