/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Callbacks that change what they are called by: who may still be called, who is still alive, and when info is
 * released, which is exactly once and never while it may still be used. Then queues in event loops, queues that are
 * held up, forks, and waking up from suspend.
 */
#include "support.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NO 0u
#define YES REACH_FLAG_REACHABLE

#define ONLINE_NETWORK "link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n"
#define GO_OFFLINE "route del default\n"
#define GO_ONLINE "route add default via 10.1.0.1\n"

/* The argument of a scenario says which kind of queue. */
static int with_thread = 0;
static int by_hand = 1;

static void wait_semaphore(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += deadline_ms() / 1000;
    while (sem_timedwait(semaphore, &until) != 0) {
        require_message(errno == EINTR, "something that must happen did not happen in time");
    }
}

/* ------------------------------------------------------------------------------------- from inside a callback --- */

/*
 * One target on one queue, and what its callback does. Inside counts the callbacks that run, so that a release that
 * comes too early is seen.
 */
struct stage {
    reach_queue *queue;
    reach_queue *manual;
    struct barrier *barrier;
    struct recorder *recorder;
    reach_target *target;
    void (*act)(struct stage *stage);
    atomic_int inside, calls, releases, replacement_calls, replacement_releases;
};

static void stage_release(void *info)
{
    struct stage *stage = info;
    require_message(atomic_load(&stage->inside) == 0, "info was released while its callback ran");
    /* No lock of the library is held here, so that everything may be called. */
    reach_is_online();
    atomic_fetch_add(&stage->releases, 1);
    record_release(stage->recorder);
}

static void stage_callback(reach_target *target, reach_flags flags, void *info)
{
    struct stage *stage = info;
    require(target == stage->target);
    require_message(atomic_load(&stage->releases) == 0, "a callback came after its info was released");
    atomic_fetch_add(&stage->inside, 1);
    atomic_fetch_add(&stage->calls, 1);
    stage->act(stage);
    /* Only now, because the scenario goes on as soon as it hears of it. */
    record(stage->recorder, target, flags);
    atomic_fetch_sub(&stage->inside, 1);
}

static void replacement_callback(reach_target *target, reach_flags flags, void *info)
{
    struct stage *stage = info;
    atomic_fetch_add(&stage->replacement_calls, 1);
    record(stage->recorder, target, flags);
}

static void replacement_release(void *info)
{
    struct stage *stage = info;
    atomic_fetch_add(&stage->replacement_releases, 1);
    record_release(stage->recorder);
}

static void stage_create(struct stage *stage, const void *kind, void (*act)(struct stage *stage))
{
    bool manual = *(const int *)kind != 0;
    memset(stage, 0, sizeof *stage);
    stage->queue = manual ? reach_queue_create_manual() : reach_queue_create("stage");
    stage->manual = manual ? stage->queue : NULL;
    stage->barrier = barrier_create(stage->queue, manual);
    stage->recorder = recorder_create();
    stage->act = act;
    stage->target = target("0.0.0.0");
    require(reach_set_callback(stage->target, stage_callback, stage, stage_release));
    require(reach_set_queue(stage->target, stage->queue));
}

/* The queue must be done with the target by now, and the target be gone or about to go. */
static void stage_free(struct stage *stage)
{
    require_no_event(stage->recorder, stage->barrier);
    barrier_free(stage->barrier);
    require(reach_queue_flush(stage->queue));
    reach_queue_release(stage->queue);
    recorder_free(stage->recorder);
}

/* The queue's thread may be the one that drops the last use, so a release is waited for. */
#define require_counts(stage, call_count, release_count) \
    do { \
        wait_releases((stage)->recorder, (stage)->manual, release_count); \
        require_int(atomic_load(&(stage)->calls), call_count); \
        require_int(atomic_load(&(stage)->releases), release_count); \
    } while (0)

static void do_nothing(struct stage *stage)
{
    (void)stage;
}

static void do_unschedule(struct stage *stage)
{
    require(reach_set_queue(stage->target, NULL));
    require_refused(reach_set_queue(stage->target, NULL), false, ENOENT);
}

static void unschedule_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_unschedule);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    network(GO_ONLINE GO_OFFLINE);
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 1, 0);
    /* The callback is the target's, so that it goes with the target. */
    reach_release(stage.target);
    require_counts(&stage, 1, 1);
    stage_free(&stage);
}

static void do_remove_callback(struct stage *stage)
{
    require(reach_set_callback(stage->target, NULL, NULL, NULL));
}

static void remove_callback_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_remove_callback);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    network(GO_ONLINE);
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 1, 1);
    /* Changes went on being tracked: a callback that is set later hears of the next one only. */
    require(reach_set_callback(stage.target, replacement_callback, &stage, replacement_release));
    require_no_event(stage.recorder, stage.barrier);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    require(reach_set_queue(stage.target, NULL));
    require(reach_queue_flush(stage.queue));
    reach_release(stage.target);
    wait_releases(stage.recorder, stage.manual, 2);
    require_counts(&stage, 1, 1);
    require_int(atomic_load(&stage.replacement_releases), 1);
    stage_free(&stage);
}

static void do_replace_callback(struct stage *stage)
{
    require(reach_set_callback(stage->target, replacement_callback, stage, replacement_release));
}

static void replace_callback_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_replace_callback);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    network(GO_ONLINE);
    require_event(stage.recorder, stage.manual, stage.target, YES);
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 1, 1);
    require_int(atomic_load(&stage.replacement_calls), 1);
    require_int(atomic_load(&stage.replacement_releases), 0);
    require(reach_set_queue(stage.target, NULL));
    require(reach_queue_flush(stage.queue));
    reach_release(stage.target);
    wait_releases(stage.recorder, stage.manual, 2);
    require_int(atomic_load(&stage.replacement_releases), 1);
    stage_free(&stage);
}

static void do_reschedule(struct stage *stage)
{
    require(reach_set_queue(stage->target, NULL));
    require(reach_set_queue(stage->target, stage->queue));
    require_refused(reach_set_queue(stage->target, stage->queue), false, EBUSY);
}

static void reschedule_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_reschedule);
    for (int time = 0; time < 10; time++) {
        network(GO_OFFLINE);
        require_event(stage.recorder, stage.manual, stage.target, NO);
        network(GO_ONLINE);
        require_event(stage.recorder, stage.manual, stage.target, YES);
    }
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 20, 0);
    require(reach_set_queue(stage.target, NULL));
    require(reach_queue_flush(stage.queue));
    reach_release(stage.target);
    require_counts(&stage, 20, 1);
    stage_free(&stage);
}

static void do_end_everything(struct stage *stage)
{
    require(reach_set_queue(stage->target, NULL));
    reach_release(stage->target);
    /* It is alive as long as its callback runs. */
    require_flags(stage->target, NO);
}

static void last_release_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_end_everything);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    network(GO_ONLINE);
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 1, 1);
    stage_free(&stage);
}

static void do_end_everything_in_another_order(struct stage *stage)
{
    /* The callback first, then the last reference, then the schedule that keeps the target alive. */
    require(reach_set_callback(stage->target, NULL, NULL, NULL));
    reach_release(stage->target);
    require(reach_set_queue(stage->target, NULL));
}

static void release_before_unscheduling_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_end_everything_in_another_order);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    network(GO_ONLINE);
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 1, 1);
    stage_free(&stage);
}

/* A scheduled target keeps itself alive and goes on calling. */
static void release_without_unscheduling(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_nothing);
    reach_release(stage.target);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    network(GO_ONLINE);
    require_event(stage.recorder, stage.manual, stage.target, YES);
    require_no_event(stage.recorder, stage.barrier);
    require_counts(&stage, 2, 0);
    require(reach_set_queue(stage.target, NULL));
    require(reach_queue_flush(stage.queue));
    barrier_pass(stage.barrier);
    require_counts(&stage, 2, 1);
    stage_free(&stage);
}

static void do_ask(struct stage *stage)
{
    require_flags(stage->target, NO);
    reach_path path = path_of(stage->target);
    require_int(path.flags, NO);
    reach_target *other = target("127.0.0.1");
    require(reach_set_queue(other, stage->queue));
    require(reach_set_queue(other, NULL));
    reach_release(other);
    reach_queue *another = reach_queue_create("another");
    require(another != NULL);
    require(reach_queue_flush(another));
    reach_queue_release(another);
    reach_flags flags;
    require_refused(reach_wait(stage->target, 1, &flags), false, ETIMEDOUT);
    do_unschedule(stage);
}

static void everything_is_allowed_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct stage stage;
    stage_create(&stage, argument, do_ask);
    network(GO_OFFLINE);
    require_event(stage.recorder, stage.manual, stage.target, NO);
    require_no_event(stage.recorder, stage.barrier);
    reach_release(stage.target);
    require_counts(&stage, 1, 1);
    stage_free(&stage);
}

/* A queue that was released goes on as long as something is scheduled on it, and ends by itself then. */
static void queue_released_with_targets_on_it(void *argument)
{
    bool manual = *(int *)argument != 0;
    network(ONLINE_NETWORK);
    size_t descriptors = 0;
    size_t threads = count_threads();
    for (int time = 0; time < 3; time++) {
        reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("released");
        struct recorder *recorder = recorder_create();
        reach_target *targets[3];
        for (int index = 0; index < 3; index++) {
            targets[index] = target("198.51.100.9");
            require(reach_set_callback(targets[index], record_event, recorder, record_release));
            require(reach_set_queue(targets[index], queue));
        }
        reach_queue_release(queue);
        /* A manual queue can still be driven: the targets keep it. */
        network(GO_OFFLINE);
        for (int index = 0; index < 3; index++) {
            require_int(next_event(recorder, manual ? queue : NULL).flags, NO);
        }
        network(GO_ONLINE);
        for (int index = 0; index < 3; index++) {
            require_int(next_event(recorder, manual ? queue : NULL).flags, YES);
        }
        for (int index = 0; index < 3; index++) {
            require(reach_set_queue(targets[index], NULL));
            reach_release(targets[index]);
        }
        wait_threads(threads);
        wait_releases(recorder, NULL, 3);
        require_int(recorder_count(recorder), 6);
        recorder_free(recorder);
        if (time == 0) {
            descriptors = count_descriptors();
        }
        require_int(count_descriptors(), descriptors);
    }
}

/* ----------------------------------------------------------------------- from another thread while it runs --- */

struct held {
    sem_t entered, leave, released;
    atomic_int inside, calls, releases;
};

static void held_callback(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    struct held *held = info;
    atomic_fetch_add(&held->inside, 1);
    atomic_fetch_add(&held->calls, 1);
    sem_post(&held->entered);
    wait_semaphore(&held->leave);
    atomic_fetch_sub(&held->inside, 1);
}

static void held_release(void *info)
{
    struct held *held = info;
    require_message(atomic_load(&held->inside) == 0, "info was released while its callback ran");
    atomic_fetch_add(&held->releases, 1);
    sem_post(&held->released);
}

static void held_create(struct held *held)
{
    memset(held, 0, sizeof *held);
    require_int(sem_init(&held->entered, 0, 0), 0);
    require_int(sem_init(&held->leave, 0, 0), 0);
    require_int(sem_init(&held->released, 0, 0), 0);
}

static void *flush_queue(void *queue)
{
    require(reach_queue_flush(queue));
    return NULL;
}

/* The callback runs and is held; meanwhile everything is taken away from under it, without waiting for it. */
static void taken_away_from_another_thread(void *argument)
{
    /* In which order: bits say what comes first. */
    int order = *(int *)argument;
    network(ONLINE_NETWORK);
    size_t threads = count_threads();
    struct held held;
    held_create(&held);
    reach_queue *queue = reach_queue_create("held");
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, held_callback, &held, held_release));
    require(reach_set_queue(internet, queue));
    network(GO_OFFLINE);
    wait_semaphore(&held.entered);

    if ((order & 1) != 0) {
        require(reach_set_callback(internet, NULL, NULL, NULL));
        require(reach_set_queue(internet, NULL));
    } else {
        require(reach_set_queue(internet, NULL));
        require(reach_set_callback(internet, NULL, NULL, NULL));
    }
    reach_release(internet);
    pthread_t flusher;
    reach_queue_retain(queue);
    require_int(pthread_create(&flusher, NULL, flush_queue, queue), 0);
    if ((order & 2) != 0) {
        reach_queue_release(queue);
    }
    network(GO_ONLINE);
    require_int(atomic_load(&held.releases), 0);
    require_int(atomic_load(&held.inside), 1);
    sem_post(&held.leave);
    /* A flush that ended saw the callback end. */
    require_int(pthread_join(flusher, NULL), 0);
    require_int(atomic_load(&held.inside), 0);
    if ((order & 2) == 0) {
        reach_queue_release(queue);
    }
    reach_queue_release(queue);
    wait_threads(threads);
    wait_semaphore(&held.released);
    require_int(atomic_load(&held.calls), 1);
    require_int(atomic_load(&held.releases), 1);
}

/* A callback that takes its time delays nobody on another queue, and nobody who asks. */
static void slow_callback_delays_nobody_else(void *argument)
{
    network(ONLINE_NETWORK);
    struct held held;
    held_create(&held);
    reach_queue *slow = reach_queue_create("slow");
    reach_target *slow_target = target("0.0.0.0");
    require(reach_set_callback(slow_target, held_callback, &held, held_release));
    require(reach_set_queue(slow_target, slow));
    bool manual = *(int *)argument != 0;
    reach_queue *quick = manual ? reach_queue_create_manual() : reach_queue_create("quick");
    struct recorder *recorder = recorder_create();
    reach_target *quick_target = target("0.0.0.0");
    require(reach_set_callback(quick_target, record_event, recorder, NULL));
    require(reach_set_queue(quick_target, quick));

    network(GO_OFFLINE);
    wait_semaphore(&held.entered);
    require_event(recorder, manual ? quick : NULL, quick_target, NO);
    for (int time = 0; time < 10; time++) {
        network(GO_ONLINE);
        require_event(recorder, manual ? quick : NULL, quick_target, YES);
        network(GO_OFFLINE);
        require_event(recorder, manual ? quick : NULL, quick_target, NO);
        /* Also about the target whose callback is running. */
        require_flags(slow_target, NO);
        require_int(atomic_load(&held.inside), 1);
    }
    network(GO_ONLINE);
    require_event(recorder, manual ? quick : NULL, quick_target, YES);
    sem_post(&held.leave);
    /* What the slow one missed comes to it as one callback. */
    wait_semaphore(&held.entered);
    sem_post(&held.leave);
    require(reach_queue_flush(slow));
    require(reach_set_queue(slow_target, NULL));
    require_int(atomic_load(&held.calls), 2);
    reach_release(slow_target);
    wait_semaphore(&held.released);
    reach_queue_release(slow);
    require(reach_set_queue(quick_target, NULL));
    require(reach_queue_flush(quick));
    reach_release(quick_target);
    reach_queue_release(quick);
    recorder_free(recorder);
}

/* ---------------------------------------------------------------------------------------------------- hammering --- */

struct registrations {
    reach_target *targets[4];
    atomic_ulong calls, registered, released;
};

static void count_call(reach_target *target, reach_flags flags, void *info)
{
    struct registrations *registrations = info;
    atomic_fetch_add(&registrations->calls, 1);
    require_message(flags == NO || flags == YES, "flags 0x%x", flags);
    if ((flags & YES) != 0) {
        reach_get_flags(target, &flags);
    }
}

static void count_release(void *info)
{
    struct registrations *registrations = info;
    atomic_fetch_add(&registrations->released, 1);
}

static void *hammer(void *argument)
{
    struct anvil *anvil = argument;
    struct registrations *registrations = anvil->info;
    unsigned state = (unsigned)(uintptr_t)&state;
    while (!atomic_load(&anvil->stop)) {
        unsigned random = next_random(&state);
        reach_target *struck = registrations->targets[random >> 8 & 3];
        reach_queue *queue = anvil->queues[(random >> 12 & 15) % 2];
        reach_flags flags;
        switch (random >> 20 & 7) {
        case 0:
            if (!reach_set_queue(struck, queue)) {
                require_int(errno, EBUSY);
            }
            break;
        case 1:
            if (!reach_set_queue(struck, NULL)) {
                require_int(errno, ENOENT);
            }
            break;
        case 2:
            atomic_fetch_add(&registrations->registered, 1);
            require(reach_set_callback(struck, count_call, registrations, count_release));
            break;
        case 3:
            require(reach_set_callback(struck, NULL, NULL, NULL));
            break;
        case 4: {
            reach_target *own = target("198.51.100.9");
            atomic_fetch_add(&registrations->registered, 1);
            require(reach_set_callback(own, count_call, registrations, count_release));
            require(reach_set_queue(own, queue));
            require(reach_get_flags(own, &flags));
            require(reach_set_queue(own, NULL));
            reach_release(own);
            break;
        }
        case 5:
            require(reach_queue_flush(anvil->queues[random >> 16 & 1]));
            break;
        default:
            require(reach_get_flags(struck, &flags));
            require_message(flags == NO || flags == YES, "flags 0x%x", flags);
        }
    }
    return NULL;
}

static void hammered_by_many_threads(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    static struct registrations registrations;
    for (int index = 0; index < 4; index++) {
        registrations.targets[index] = target(index % 2 == 0 ? "0.0.0.0" : "198.51.100.9");
    }
    struct anvil anvil = { .info = &registrations };
    anvil_strike(&anvil, 8, hammer, GO_OFFLINE, GO_ONLINE);
    for (int index = 0; index < 4; index++) {
        reach_set_queue(registrations.targets[index], NULL);
        reach_release(registrations.targets[index]);
    }
    anvil_release(&anvil);
    wait_threads(1);
    require_int(atomic_load(&registrations.released), atomic_load(&registrations.registered));
    require(atomic_load(&registrations.registered) > 0);
}

/* ----------------------------------------------------------------------------------------------- in event loops --- */

static void manual_queue_in_poll(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    reach_queue *queue = reach_queue_create_manual();
    struct recorder *recorder = recorder_create();
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, record_event, recorder, NULL));
    require(reach_set_queue(internet, queue));
    require_int(count_threads(), 1);
    int descriptor = reach_queue_fd(queue);
    /* There may be something to look at, but nothing to tell. */
    while (is_readable(descriptor, 0)) {
        require_int(reach_queue_dispatch(queue, 0), 0);
    }
    for (int time = 0; time < 20; time++) {
        network(time % 2 == 0 ? GO_OFFLINE : GO_ONLINE);
        wait_readable(descriptor);
        /* Level-triggered: it stays so until the queue is driven. */
        require(is_readable(descriptor, 0));
        int callouts = 0;
        while (callouts == 0) {
            wait_readable(descriptor);
            callouts = reach_queue_dispatch(queue, 0);
            require(callouts >= 0);
        }
        require_int(callouts, 1);
        require_event(recorder, NULL, internet, time % 2 == 0 ? NO : YES);
        while (is_readable(descriptor, 0)) {
            require_int(reach_queue_dispatch(queue, 0), 0);
        }
        require_int(reach_queue_dispatch(queue, 0), 0);
    }
    require_int(recorder_pending(recorder), 0);
    require_int(count_threads(), 1);
    require(reach_set_queue(internet, NULL));
    reach_release(internet);
    reach_queue_release(queue);
    recorder_free(recorder);
}

/* Two queues and another descriptor in one epoll set, level- and edge-triggered. */
static void manual_queues_in_epoll(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    enum { count = 2 };
    reach_queue *queues[count];
    reach_target *targets[count];
    struct recorder *recorder = recorder_create();
    int loop = epoll_create1(EPOLL_CLOEXEC);
    require(loop >= 0);
    int other[2];
    require_int(pipe2(other, O_CLOEXEC), 0);
    struct epoll_event entry = { .events = EPOLLIN, .data.u32 = count };
    require_int(epoll_ctl(loop, EPOLL_CTL_ADD, other[0], &entry), 0);
    for (uint32_t index = 0; index < count; index++) {
        queues[index] = reach_queue_create_manual();
        targets[index] = target(index == 0 ? "0.0.0.0" : "198.51.100.9");
        require(reach_set_callback(targets[index], record_event, recorder, NULL));
        require(reach_set_queue(targets[index], queues[index]));
        entry = (struct epoll_event){ .events = index == 0 ? EPOLLIN : EPOLLIN | EPOLLET, .data.u32 = index };
        require_int(epoll_ctl(loop, EPOLL_CTL_ADD, reach_queue_fd(queues[index]), &entry), 0);
    }
    for (int time = 0; time < 20; time++) {
        network(time % 2 == 0 ? GO_OFFLINE : GO_ONLINE);
        int heard = 0;
        while (heard < count) {
            struct epoll_event events[4];
            int ready = epoll_wait(loop, events, 4, deadline_ms());
            require_message(ready > 0, "the loop was not woken");
            for (int index = 0; index < ready; index++) {
                require(events[index].data.u32 < count);
                int callouts = reach_queue_dispatch(queues[events[index].data.u32], 0);
                require(callouts >= 0);
                heard += callouts;
            }
        }
        require_int(heard, count);
    }
    require_int(recorder_count(recorder), 20 * count);
    for (int index = 0; index < count; index++) {
        require(reach_set_queue(targets[index], NULL));
        reach_release(targets[index]);
        reach_queue_release(queues[index]);
    }
    close(loop);
    recorder_free(recorder);
}

/* Changes as data, beside callbacks on the same queue. */
static void changes_as_data(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    reach_queue *queue = reach_queue_create_manual();
    struct recorder *recorder = recorder_create();
    reach_target *internet = target("0.0.0.0");
    reach_target *ipv4 = target("198.51.100.9");
    reach_target *called = target("203.0.113.9");
    require(reach_set_callback(called, record_event, recorder, NULL));
    require(reach_set_queue(internet, queue));
    require(reach_set_queue(ipv4, queue));
    require(reach_set_queue(called, queue));
    reach_target *changed = NULL;
    reach_flags flags = 0x5678;
    require_int(reach_queue_next(queue, 0, &changed, &flags), 0);
    require(changed == NULL && flags == 0x5678);
    for (int time = 0; time < 10; time++) {
        reach_flags expected = time % 2 == 0 ? NO : YES;
        network(time % 2 == 0 ? GO_OFFLINE : GO_ONLINE);
        bool heard[2] = { false };
        for (int index = 0; index < 2; index++) {
            require_int(reach_queue_next(queue, deadline_ms(), &changed, &flags), 1);
            require(changed == internet || changed == ipv4);
            require(!heard[changed == internet]);
            heard[changed == internet] = true;
            require_int(flags, expected);
        }
        require_int(reach_queue_next(queue, 0, &changed, &flags), 0);
        require_event(recorder, queue, called, expected);
    }
    require(reach_set_queue(internet, NULL));
    require(reach_set_queue(ipv4, NULL));
    require(reach_set_queue(called, NULL));
    require_int(reach_queue_next(queue, 0, &changed, &flags), 0);
    reach_release(internet);
    reach_release(ipv4);
    reach_release(called);
    reach_queue_release(queue);
    recorder_free(recorder);
}

static void nothing(int number)
{
    (void)number;
}

/* A signal ends the wait of a manual queue, since its loop is the caller's; it does not end reach_wait. */
static void signals_during_waits(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    struct sigaction action = { .sa_handler = nothing };
    require_int(sigaction(SIGUSR1, &action, NULL), 0);
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = target("0.0.0.0");
    require(reach_set_queue(internet, queue));
    struct nuisance nuisance;
    nuisance_begin(&nuisance, pthread_self());
    int result;
    while ((result = reach_queue_dispatch(queue, -1)) == 0) {
    }
    require_int(result, -1);
    require_int(errno, EINTR);
    reach_flags flags = 0x5678;
    require_refused(reach_wait(internet, 100, &flags), false, ETIMEDOUT);
    require_int(flags, NO);
    nuisance_end(&nuisance);
    require(reach_set_queue(internet, NULL));
    reach_release(internet);
    reach_queue_release(queue);
}

/* -------------------------------------------------------------------------------------------------------- forks --- */

static void require_child(pid_t child)
{
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_message(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
}

/* A child that ends with its only thread, which is one of its parent's, is beyond what the sanitizers know. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INSTRUMENTED 1
#endif
#endif

static pid_t forked_inside;

static void fork_inside(reach_target *target, reach_flags flags, void *info)
{
    if (forked_inside == 0) {
        fflush(NULL);
        forked_inside = fork();
        if (forked_inside == 0) {
            /* Back into the library, which leaves alone what is the parent's. Its threads block every signal. */
            sigset_t none;
            sigemptyset(&none);
            pthread_sigmask(SIG_SETMASK, &none, NULL);
            alarm((unsigned)deadline_ms() / 1000);
            return;
        }
    }
    record_event(target, flags, info);
}

/* A child that is forked inside a callback, and returns from it, takes nothing from its parent. */
static void fork_inside_a_callback(void *argument)
{
    bool manual = *(int *)argument != 0;
    pid_t parent = getpid();
    network(ONLINE_NETWORK);
    reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("parent");
    struct recorder *recorder = recorder_create();
    reach_target *watched[] = { target("0.0.0.0"), target("198.51.100.9") };
    for (int index = 0; index < 2; index++) {
        require(reach_set_callback(watched[index], fork_inside, recorder, NULL));
        require(reach_set_queue(watched[index], queue));
    }
    network(GO_OFFLINE);
    if (manual) {
        int callouts = reach_queue_dispatch(queue, deadline_ms());
        if (getpid() != parent) {
            require_int(callouts, -1);
            require_int(errno, ESTALE);
            _exit(0);
        }
        require_int(callouts, 2);
    }
    for (int index = 0; index < 2; index++) {
        require_int(next_event(recorder, manual ? queue : NULL).flags, NO);
    }
    require_child(forked_inside);
    for (int time = 0; time < 10; time++) {
        network(time % 2 == 0 ? GO_ONLINE : GO_OFFLINE);
        for (int index = 0; index < 2; index++) {
            require_int(next_event(recorder, manual ? queue : NULL).flags, time % 2 == 0 ? YES : NO);
        }
    }
    for (int index = 0; index < 2; index++) {
        require(reach_set_queue(watched[index], NULL));
        require(reach_queue_flush(queue));
        reach_release(watched[index]);
    }
    reach_queue_release(queue);
    recorder_free(recorder);
}

static void fork_with_a_scheduled_target(void *argument)
{
    bool manual = *(int *)argument != 0;
    network(ONLINE_NETWORK);
    reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("parent");
    struct recorder *recorder = recorder_create();
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, record_event, recorder, NULL));
    require(reach_set_queue(internet, queue));
    int to_child[2], to_parent[2];
    require_int(pipe(to_child), 0);
    require_int(pipe(to_parent), 0);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        alarm((unsigned)deadline_ms() / 1000);
        /* What was scheduled stays the parent's. */
        reach_target *changed;
        reach_flags flags;
        reach_target *fresh = target("198.51.100.9");
        require_refused(reach_set_queue(fresh, queue), false, ESTALE);
        require_refused(reach_queue_flush(queue), false, ESTALE);
        if (manual) {
            require_refused(reach_queue_fd(queue), -1, ESTALE);
            require_refused(reach_queue_dispatch(queue, 0), -1, ESTALE);
            require_refused(reach_queue_next(queue, 0, &changed, &flags), -1, ESTALE);
        }
        require_flags(internet, YES);
        /* A target can be scheduled afresh, on a queue of the child's. */
        reach_queue *own = reach_queue_create("child");
        require_message(own != NULL, "%s", errno_name(errno));
        struct recorder *heard = recorder_create();
        require(reach_set_callback(internet, record_event, heard, record_release));
        require_message(reach_set_queue(internet, own), "%s", errno_name(errno));
        require(write(to_parent[1], "r", 1) == 1);
        for (int time = 0; time < 10; time++) {
            reach_flags expected = time % 2 == 0 ? NO : YES;
            require_event(heard, NULL, internet, expected);
            require_flags(internet, expected);
            require_flags(fresh, expected);
            require(write(to_parent[1], "k", 1) == 1);
        }
        require_int(recorder_count(heard), 10);
        require(reach_set_queue(internet, NULL));
        require(reach_queue_flush(own));
        reach_queue_release(own);
        require(reach_set_callback(internet, NULL, NULL, NULL));
        wait_releases(heard, NULL, 1);
        recorder_free(heard);
        reach_release(fresh);
        /* What the parent's threads held on their stacks is lost here, of which valgrind need not be told. */
        execlp("true", "true", (char *)NULL);
        _exit(1);
    }
    close(to_parent[1]);
    char reply;
    require_message(read(to_parent[0], &reply, 1) == 1, "the child failed");
    for (int time = 0; time < 10; time++) {
        reach_flags expected = time % 2 == 0 ? NO : YES;
        network(time % 2 == 0 ? GO_OFFLINE : GO_ONLINE);
        require_event(recorder, manual ? queue : NULL, internet, expected);
        require_flags(internet, expected);
        require_message(read(to_parent[0], &reply, 1) == 1, "the child failed");
    }
    require_child(child);
    network(GO_OFFLINE);
    require_event(recorder, manual ? queue : NULL, internet, NO);
    require(reach_set_queue(internet, NULL));
    require(reach_queue_flush(queue));
    require_int(recorder_count(recorder), 11);
    reach_release(internet);
    reach_queue_release(queue);
    recorder_free(recorder);
}

/* --------------------------------------------------------------------------------------------------- suspending --- */

/*
 * The clocks of this program. The library calls the same functions, so that it wakes up when this program says so:
 * after a suspend, the boot clock is ahead of the monotonic one by the time that was slept.
 */
static atomic_llong slept_seconds;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_BOOTTIME) {
        now->tv_sec += atomic_load(&slept_seconds);
    }
    return (int)result;
}

/* The resolver of this program, which knows one address and counts. */
static atomic_int lookups;
static _Atomic(const char *) resolved_address = "198.51.100.9";

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    (void)name;
    (void)service;
    (void)hints;
    atomic_fetch_add(&lookups, 1);
    struct {
        struct addrinfo information;
        struct sockaddr_storage address;
    } *answer = calloc(1, sizeof *answer);
    if (answer == NULL) {
        return EAI_MEMORY;
    }
    answer->information.ai_addrlen = parse_address(atomic_load(&resolved_address), &answer->address);
    answer->information.ai_family = answer->address.ss_family;
    answer->information.ai_socktype = SOCK_STREAM;
    answer->information.ai_addr = (struct sockaddr *)&answer->address;
    *result = &answer->information;
    return 0;
}

void freeaddrinfo(struct addrinfo *result)
{
    free(result);
}

/* The first callback about a name may come before its look-up. */
static void wait_resolved(reach_target *name, reach_queue *manual)
{
    for (int64_t end = now_ms() + deadline_ms(); path_of(name).reason == REACH_REASON_NOT_RESOLVED;) {
        require_message(now_ms() < end, "the name was not looked up in time");
        if (manual != NULL) {
            require(reach_queue_dispatch(manual, 10) >= 0);
        } else {
            sched_yield();
        }
    }
}

/* Waking up, names are looked up again, and their answers may be other ones. */
static void resume_from_suspend(void *argument)
{
    bool manual = *(int *)argument != 0;
    network(ONLINE_NETWORK "route add unreachable 203.0.113.9\n");
    reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("sleeper");
    reach_queue *driven = manual ? queue : NULL;
    struct barrier *barrier = barrier_create(queue, manual);
    struct recorder *recorder = recorder_create();
    reach_target *name = target_name("host.example");
    require(reach_set_callback(name, record_event, recorder, NULL));
    require(reach_set_queue(name, queue));
    require_event(recorder, driven, name, YES);
    wait_resolved(name, driven);
    int before = atomic_load(&lookups);
    require(before >= 1);
    require_no_event(recorder, barrier);
    require_int(atomic_load(&lookups), before);

    /* The name moved while the machine slept. Whatever wakes the queue makes it notice. */
    atomic_store(&resolved_address, "203.0.113.9");
    atomic_fetch_add(&slept_seconds, 3600);
    barrier_pass(barrier);
    require_event(recorder, driven, name, NO);
    require(atomic_load(&lookups) > before);
    before = atomic_load(&lookups);
    require_no_event(recorder, barrier);
    require_int(atomic_load(&lookups), before);

    atomic_store(&resolved_address, "198.51.100.9");
    atomic_fetch_add(&slept_seconds, 60);
    barrier_pass(barrier);
    require_event(recorder, driven, name, YES);

    /* An address is asked about again, and found to be as it was. */
    reach_target *ipv4 = target("198.51.100.9");
    require(reach_set_callback(ipv4, record_event, recorder, NULL));
    require(reach_set_queue(ipv4, queue));
    atomic_fetch_add(&slept_seconds, 60);
    require_no_event(recorder, barrier);
    network(GO_OFFLINE);
    struct event first = next_event(recorder, driven), second = next_event(recorder, driven);
    require(first.flags == NO && second.flags == NO && first.target != second.target);

    require(reach_set_queue(ipv4, NULL));
    require(reach_set_queue(name, NULL));
    require(reach_queue_flush(queue));
    reach_release(ipv4);
    reach_release(name);
    barrier_free(barrier);
    reach_queue_release(queue);
    recorder_free(recorder);
}

int main(void)
{
    static int orders[] = { 0, 1, 2, 3 };
#define BOTH(f) \
    namespace_test_with(#f ", thread queue", f, &with_thread), namespace_test_with(#f ", manual queue", f, &by_hand)
    const struct CMUnitTest tests[] = {
        BOTH(unschedule_inside),
        BOTH(remove_callback_inside),
        BOTH(replace_callback_inside),
        BOTH(reschedule_inside),
        BOTH(last_release_inside),
        BOTH(release_before_unscheduling_inside),
        BOTH(release_without_unscheduling),
        BOTH(everything_is_allowed_inside),
        BOTH(queue_released_with_targets_on_it),
        namespace_test_with("taken away by another thread: schedule, callback", taken_away_from_another_thread,
            &orders[0]),
        namespace_test_with("taken away by another thread: callback, schedule", taken_away_from_another_thread,
            &orders[1]),
        namespace_test_with("taken away by another thread: schedule, callback, queue", taken_away_from_another_thread,
                            &orders[2]),
        namespace_test_with("taken away by another thread: callback, schedule, queue", taken_away_from_another_thread,
                            &orders[3]),
        BOTH(slow_callback_delays_nobody_else),
        namespace_test(hammered_by_many_threads),
        namespace_test(manual_queue_in_poll),
        namespace_test(manual_queues_in_epoll),
        namespace_test(changes_as_data),
        namespace_test(signals_during_waits),
#ifndef INSTRUMENTED
        namespace_test_with("fork_inside_a_callback, thread queue", fork_inside_a_callback, &with_thread),
#endif
        namespace_test_with("fork_inside_a_callback, manual queue", fork_inside_a_callback, &by_hand),
        BOTH(fork_with_a_scheduled_target),
        BOTH(resume_from_suspend),
    };
    return cmocka_run_group_tests_name("lifetimes", tests, NULL, NULL);
}
