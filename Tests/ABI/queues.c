/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What can be got wrong with callbacks, queues, confirmations and monitors, and what the system can refuse them. Where
 * a release function is handed over it runs exactly once, whatever became of the call.
 */
#include "support.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <seccomp.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ONLINE REACH_FLAG_REACHABLE

static void count_release(void *info)
{
    atomic_int *count = info;
    atomic_fetch_add(count, 1);
}

static void never_called(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)info;
    fail_scenario(__FILE__, __LINE__, "a callback came that should not have come, with flags 0x%x", flags);
}

static void confirm_never_called(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)online;
    never_called(target, flags, info);
}

static void observer_never_called(reach_monitor *monitor, reach_status status, reach_status previous, const char *host,
                                  void *info)
{
    (void)monitor;
    (void)status;
    (void)previous;
    (void)host;
    never_called(NULL, 0, info);
}

/* A call that fails with this errno, and releases the info that it was handed. */
#define require_refused_and_released(call, failure, expected_errno) \
    do { \
        atomic_int released = 0; \
        require_refused(call, failure, expected_errno); \
        require_int(atomic_load(&released), 1); \
    } while (0)

/* --------------------------------------------------------------------------------------------------- callbacks --- */

static void callback_arguments(void *argument)
{
    (void)argument;
    require_refused_and_released(reach_set_callback(NULL, never_called, &released, count_release), false, EINVAL);
    require_refused_and_released(reach_set_callback(NULL, NULL, &released, count_release), false, EINVAL);
    require_refused(reach_set_callback(NULL, NULL, NULL, NULL), false, EINVAL);
    require_refused(reach_set_callback(NULL, never_called, NULL, NULL), false, EINVAL);
}

static void callback_is_released_once(void *argument)
{
    (void)argument;
    atomic_int first = 0, second = 0, third = 0;
    reach_target *zero = target("0.0.0.0");
    require(reach_set_callback(zero, never_called, &first, count_release));
    require_int(atomic_load(&first), 0);
    /* Replaced, by itself too. */
    require(reach_set_callback(zero, never_called, &first, count_release));
    require_int(atomic_load(&first), 1);
    require(reach_set_callback(zero, never_called, &second, count_release));
    require_int(atomic_load(&first), 2);
    /* Removed. */
    require(reach_set_callback(zero, NULL, NULL, NULL));
    require_int(atomic_load(&second), 1);
    require(reach_set_callback(zero, NULL, NULL, NULL));
    require_int(atomic_load(&second), 1);
    /* Without a release function. */
    require(reach_set_callback(zero, never_called, &second, NULL));
    require(reach_set_callback(zero, never_called, &third, count_release));
    require_int(atomic_load(&second), 1);
    /* Freed. */
    reach_retain(zero);
    reach_release(zero);
    require_int(atomic_load(&third), 0);
    reach_release(zero);
    require_int(atomic_load(&third), 1);
}

/* An info that comes without a callback is somebody's all the same. */
static void callback_that_is_none_with_info(void *argument)
{
    (void)argument;
    atomic_int first = 0, second = 0;
    reach_target *zero = target("0.0.0.0");
    require(reach_set_callback(zero, NULL, &first, count_release));
    require(reach_set_callback(zero, NULL, &second, count_release));
    require_int(atomic_load(&first), 1);
    reach_release(zero);
    require_int(atomic_load(&first), 1);
    require_int(atomic_load(&second), 1);
}

/* --------------------------------------------------------------------------------------------------- scheduling --- */

static void scheduling_arguments(void *argument)
{
    (void)argument;
    reach_queue *manual = reach_queue_create_manual();
    reach_queue *thread = reach_queue_create("test");
    require(manual != NULL && thread != NULL);
    reach_target *zero = target("0.0.0.0");

    require_refused(reach_set_queue(NULL, NULL), false, EINVAL);
    require_refused(reach_set_queue(NULL, manual), false, EINVAL);
    require_refused(reach_set_queue(zero, NULL), false, ENOENT);
    reach_queue *const queues[] = { manual, thread };
    for (int index = 0; index < 2; index++) {
        for (int time = 0; time < 3; time++) {
            require(reach_set_queue(zero, queues[index]));
            require_refused(reach_set_queue(zero, manual), false, EBUSY);
            require_refused(reach_set_queue(zero, thread), false, EBUSY);
            require(reach_set_queue(zero, NULL));
            require_refused(reach_set_queue(zero, NULL), false, ENOENT);
        }
    }
    reach_release(zero);
    reach_queue_release(thread);
    reach_queue_release(manual);
}

/* A refused second schedule leaves the first one as it was. */
static void scheduled_twice(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    reach_queue *first = reach_queue_create("first");
    reach_queue *second = reach_queue_create_manual();
    struct recorder *recorder = recorder_create();
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, record_event, recorder, NULL));
    require(reach_set_queue(internet, first));
    require_refused(reach_set_queue(internet, second), false, EBUSY);
    ip("route add default via 10.1.0.1\n");
    require_event(recorder, NULL, internet, ONLINE);
    require_int(reach_queue_dispatch(second, 0), 0);
    require(reach_set_queue(internet, NULL));
    require(reach_queue_flush(first));
    reach_release(internet);
    reach_queue_release(first);
    reach_queue_release(second);
    recorder_free(recorder);
}

/* ------------------------------------------------------------------------------------------------------- queues --- */

static void queue_arguments(void *argument)
{
    (void)argument;
    reach_target *written = (reach_target *)0x1234;
    reach_flags flags = 0x5678;
    require_refused(reach_queue_fd(NULL), -1, EINVAL);
    require_refused(reach_queue_dispatch(NULL, 0), -1, EINVAL);
    require_refused(reach_queue_dispatch(NULL, -1), -1, EINVAL);
    require_refused(reach_queue_next(NULL, 0, &written, &flags), -1, EINVAL);
    require_refused(reach_queue_flush(NULL), false, EINVAL);
    require_refused(reach_queue_retain(NULL), NULL, EINVAL);
    reach_queue_release(NULL);

    reach_queue *thread = reach_queue_create(NULL);
    require(thread != NULL);
    require_refused(reach_queue_fd(thread), -1, EINVAL);
    require_refused(reach_queue_dispatch(thread, 0), -1, EINVAL);
    require_refused(reach_queue_dispatch(thread, -1), -1, EINVAL);
    require_refused(reach_queue_next(thread, 0, &written, &flags), -1, EINVAL);
    require(reach_queue_retain(thread) == thread);
    reach_queue_release(thread);
    require(reach_queue_flush(thread));
    reach_queue_release(thread);

    reach_queue *manual = reach_queue_create_manual();
    require(manual != NULL);
    require_refused(reach_queue_next(manual, 0, NULL, &flags), -1, EINVAL);
    require_refused(reach_queue_next(manual, 0, &written, NULL), -1, EINVAL);
    require_refused(reach_queue_next(manual, -1, NULL, NULL), -1, EINVAL);
    require_refused(reach_queue_dispatch(manual, -2), -1, EINVAL);
    require_refused(reach_queue_next(manual, INT_MIN, &written, &flags), -1, EINVAL);
    int descriptor = reach_queue_fd(manual);
    require(descriptor >= 0);
    require_int(reach_queue_fd(manual), descriptor);
    require_int(reach_queue_dispatch(manual, 0), 0);
    require_int(reach_queue_dispatch(manual, 1), 0);
    require_int(reach_queue_next(manual, 0, &written, &flags), 0);
    require_int(reach_queue_next(manual, 1, &written, &flags), 0);
    require(reach_queue_flush(manual));
    reach_queue_release(manual);
    require_message(written == (reach_target *)0x1234 && flags == 0x5678, "an output was written without success");
}

/*
 * Queues come and go, used or not, with targets that outlive them or not, driven before they go or not, and leave
 * neither thread nor descriptor behind.
 */
static void queues_leave_nothing(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    reach_target *lasting = target("0.0.0.0");
    require_flags(lasting, ONLINE);
    size_t descriptors = count_descriptors();
    size_t threads = count_threads();
    for (unsigned kind = 0; kind < 64; kind++) {
        bool manual = (kind & 1) != 0, used = (kind & 2) != 0, outlived = (kind & 4) != 0, driven = (kind & 8) != 0;
        bool changed = (kind & 16) != 0, released_first = (kind & 32) != 0;
        reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("short-lived");
        require(queue != NULL);
        reach_target *scheduled = outlived ? reach_retain(lasting) : target("0.0.0.0");
        if (used) {
            require(reach_set_queue(scheduled, queue));
            if (changed) {
                ip("route del default\nroute add default via 10.1.0.1\n");
            }
            if (manual && driven) {
                require_int(reach_queue_dispatch(queue, 0), 0);
            }
            if (released_first) {
                reach_queue_release(queue);
            }
            require(reach_set_queue(scheduled, NULL));
        } else if (released_first) {
            reach_queue_release(queue);
        }
        if (!released_first) {
            reach_queue_release(queue);
        }
        reach_release(scheduled);
        wait_threads(threads);
        require_message(count_descriptors() == descriptors,
                        "%s queue%s%s%s%s%s: %zu descriptors are left open", manual ? "manual" : "thread",
                        used ? ", used" : "", outlived ? ", outlived by its target" : "", driven ? ", driven" : "",
                        changed ? ", after a change" : "", released_first ? ", released before unscheduling" : "",
                        count_descriptors() - descriptors);
    }
    reach_release(lasting);
}

struct named_thread {
    sem_t arrived;
    char name[64];
    bool blocked; /* every signal */
};

static void read_own_name(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    struct named_thread *thread = info;
    pthread_getname_np(pthread_self(), thread->name, sizeof thread->name);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    thread->blocked = true;
    for (int number = 1; number <= SIGRTMAX; number++) {
        /* Those that the C library keeps for itself, and those that cannot be blocked. */
        bool reserved = (number >= 32 && number < SIGRTMIN) || number == SIGKILL || number == SIGSTOP;
        thread->blocked = thread->blocked && (reserved || sigismember(&mask, number) == 1);
    }
    sem_post(&thread->arrived);
}

static void labels_name_threads(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    static const struct {
        const char *label, *name;
    } labels[] = {
        { NULL, "reach" },
        { "short", "short" },
        { "exactly-15-char", "exactly-15-char" },
        { "more than fifteen bytes", "more than fifte" },
        { "%s%n%d", "%s%n%d" },
        { "", "" },
    };
    reach_target *internet = target("0.0.0.0");
    for (size_t index = 0; index < sizeof labels / sizeof *labels; index++) {
        struct named_thread thread;
        require_int(sem_init(&thread.arrived, 0, 0), 0);
        reach_queue *queue = reach_queue_create(labels[index].label);
        require(queue != NULL);
        require(reach_set_callback(internet, read_own_name, &thread, NULL));
        require(reach_set_queue(internet, queue));
        ip(index % 2 == 0 ? "route add default via 10.1.0.1\n" : "route del default\n");
        while (sem_wait(&thread.arrived) != 0) {
        }
        require(reach_set_queue(internet, NULL));
        require(reach_queue_flush(queue));
        require_text(thread.name, labels[index].name);
        require_message(thread.blocked, "a thread of the library takes signals");
        reach_queue_release(queue);
        sem_destroy(&thread.arrived);
    }
    char *long_label = malloc(100001);
    require(long_label != NULL);
    memset(long_label, 'x', 100000);
    long_label[100000] = '\0';
    reach_queue *queue = reach_queue_create(long_label);
    require(queue != NULL);
    reach_queue_release(queue);
    free(long_label);
    reach_release(internet);
}

/* Waiting for oneself would never end. */
static void wait_for_oneself(reach_target *target, reach_flags flags, void *info)
{
    (void)flags;
    reach_queue *queue = *(reach_queue **)info;
    require_refused(reach_queue_flush(queue), false, EDEADLK);
    reach_target *changed;
    reach_flags new_flags;
    if (reach_queue_fd(queue) >= 0) {
        require_refused(reach_queue_dispatch(queue, 0), -1, EDEADLK);
        require_refused(reach_queue_dispatch(queue, -1), -1, EDEADLK);
        require_refused(reach_queue_next(queue, 0, &changed, &new_flags), -1, EDEADLK);
    }
    /* A blocking wait of another kind is allowed: it does not need this queue. */
    require(reach_wait(target, 0, &new_flags));
    *(reach_queue **)info = NULL;
}

static void waiting_inside_a_callback(void *argument)
{
    bool manual = argument != NULL;
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("self");
    struct barrier *barrier = barrier_create(queue, manual);
    reach_queue *info = queue;
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, wait_for_oneself, &info, NULL));
    require(reach_set_queue(internet, queue));
    ip("route add default via 10.1.0.1\n");
    barrier_pass(barrier);
    require_message(info == NULL, "the callback did not come");
    require(reach_set_queue(internet, NULL));
    reach_release(internet);
    barrier_free(barrier);
    reach_queue_release(queue);
}

struct inside {
    sem_t entered, leave;
};

static void stay_inside(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    struct inside *inside = info;
    sem_post(&inside->entered);
    while (sem_wait(&inside->leave) != 0) {
    }
}

static void *drive(void *argument)
{
    reach_queue *queue = argument;
    int callouts;
    while ((callouts = reach_queue_dispatch(queue, deadline_ms())) == 0) {
    }
    require_int(callouts, 1);
    return NULL;
}

/* A manual queue is driven by one thread at a time. */
static void driven_by_two_threads(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    reach_queue *queue = reach_queue_create_manual();
    struct inside inside;
    require_int(sem_init(&inside.entered, 0, 0), 0);
    require_int(sem_init(&inside.leave, 0, 0), 0);
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, stay_inside, &inside, NULL));
    require(reach_set_queue(internet, queue));
    pthread_t driver;
    require_int(pthread_create(&driver, NULL, drive, queue), 0);
    ip("route add default via 10.1.0.1\n");
    while (sem_wait(&inside.entered) != 0) {
    }
    reach_target *changed;
    reach_flags flags;
    require_refused(reach_queue_dispatch(queue, 0), -1, EBUSY);
    require_refused(reach_queue_next(queue, 0, &changed, &flags), -1, EBUSY);
    sem_post(&inside.leave);
    require(reach_queue_flush(queue));
    require_int(pthread_join(driver, NULL), 0);
    require_int(reach_queue_dispatch(queue, 0), 0);
    require(reach_set_queue(internet, NULL));
    reach_release(internet);
    reach_queue_release(queue);
}

/* --------------------------------------------------------------------------------- confirmations and monitors --- */

static void confirm_arguments(void *argument)
{
    (void)argument;
    reach_queue *queue = reach_queue_create_manual();
    reach_target *zero = target("0.0.0.0");
    require_refused_and_released(reach_confirm(NULL, 0, queue, confirm_never_called, &released, count_release), 0,
        EINVAL);
    require_refused_and_released(reach_confirm(zero, 0, NULL, confirm_never_called, &released, count_release), 0,
        EINVAL);
    require_refused_and_released(reach_confirm(zero, 0, queue, NULL, &released, count_release), 0, EINVAL);
    require_refused_and_released(reach_confirm(NULL, -1, NULL, NULL, &released, count_release), 0, EINVAL);
    require_refused_and_released(reach_confirm(zero, -2, queue, confirm_never_called, &released, count_release), 0,
                                 EINVAL);
    require_refused(reach_confirm(NULL, 0, NULL, NULL, NULL, NULL), 0, EINVAL);
    require_refused(reach_confirm_cancel(0), false, ENOENT);
    require_refused(reach_confirm_cancel(1), false, ENOENT);
    require_refused(reach_confirm_cancel(UINT64_MAX), false, ENOENT);
    require_int(reach_queue_dispatch(queue, 0), 0);

    reach_flags flags = 0x5678;
    require_refused(reach_wait(NULL, 0, &flags), false, EINVAL);
    require_refused(reach_wait(zero, -2, &flags), false, EINVAL);
    require_refused(reach_wait(NULL, -1, NULL), false, EINVAL);
    require_int(flags, 0x5678);
    reach_release(zero);
    reach_queue_release(queue);
}

static void wait_offline(void *argument)
{
    (void)argument;
    reach_target *zero = target("0.0.0.0");
    reach_flags flags = 0x5678;
    require_refused(reach_wait(zero, 0, &flags), false, ETIMEDOUT);
    require_int(flags, 0);
    require_refused(reach_wait(zero, 0, NULL), false, ETIMEDOUT);
    require_refused(reach_wait(zero, 20, NULL), false, ETIMEDOUT);
    network("veth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    require(reach_wait(zero, 0, &flags));
    require_int(flags, ONLINE);
    require(reach_wait(zero, -1, NULL));
    reach_release(zero);
}

static void cancel_confirmation(void *argument)
{
    (void)argument;
    reach_queue *queue = reach_queue_create_manual();
    reach_target *zero = target("0.0.0.0");
    atomic_int released = 0;
    uint64_t previous = 0;
    for (int time = 0; time < 100; time++) {
        uint64_t id = reach_confirm(zero, -1, queue, confirm_never_called, &released, count_release);
        require_message(id != 0 && id != previous, "id %llu: %s", (unsigned long long)id, errno_name(errno));
        require(reach_confirm_cancel(id));
        require_int(atomic_load(&released), time + 1);
        require_refused(reach_confirm_cancel(id), false, ENOENT);
        previous = id;
    }
    require_int(reach_queue_dispatch(queue, 0), 0);
    reach_release(zero);
    reach_queue_release(queue);
}

/* In a namespace without a network, so that the shared monitor's look-up goes nowhere. */
static void monitor_arguments(void *argument)
{
    (void)argument;
    require_refused(reach_monitor_create(NULL), NULL, EINVAL);
    require_refused(reach_monitor_create(""), NULL, EINVAL);
    require_refused(reach_monitor_retain(NULL), NULL, EINVAL);
    reach_monitor_release(NULL);
    require_refused(reach_monitor_remove_observer(0), false, ENOENT);
    require_refused(reach_monitor_remove_observer(UINT64_MAX), false, ENOENT);

    reach_monitor *monitor = reach_monitor_create("192.0.2.1");
    require_message(monitor != NULL, "%s", errno_name(errno));
    reach_queue *queue = reach_queue_create_manual();
    require_refused_and_released(
        reach_monitor_add_observer(monitor, NULL, observer_never_called, &released, count_release), 0, EINVAL);
    require_refused_and_released(reach_monitor_add_observer(monitor, queue, NULL, &released, count_release), 0, EINVAL);
    require_refused_and_released(reach_monitor_add_observer(NULL, NULL, NULL, &released, count_release), 0, EINVAL);
    require_refused_and_released(reach_monitor_add_observer(NULL, queue, NULL, &released, count_release), 0, EINVAL);

    char host[64];
    require_int(reach_monitor_get_host(monitor, host, sizeof host), 9);
    require_text(host, "192.0.2.1");
    require_int(reach_monitor_get_host(monitor, NULL, 0), 9);
    require_refused(reach_monitor_get_host(monitor, NULL, 1), 0, EINVAL);
    memset(host, 'x', sizeof host);
    require_int(reach_monitor_get_host(monitor, host, 4), 9);
    require(memcmp(host, "192\0x", 5) == 0);
    require_refused(reach_monitor_set_host(monitor, NULL), false, EINVAL);
    require_refused(reach_monitor_set_host(monitor, ""), false, EINVAL);
    require_int(reach_monitor_get_host(monitor, host, sizeof host), 9);
    require_text(host, "192.0.2.1");
    reach_monitor_release(monitor);
    reach_queue_release(queue);

    /* NULL is the shared one. */
    require_int(reach_monitor_get_host(NULL, host, sizeof host), 9);
    require_text(host, "apple.com");
    reach_monitor *shared = reach_monitor_shared();
    require(shared != NULL && shared == reach_monitor_shared());
    reach_monitor_release(shared);
    reach_monitor_release(shared);
    require(reach_monitor_shared() == shared);
    require(reach_monitor_set_host(NULL, "192.0.2.7"));
    require_int(reach_monitor_get_host(shared, host, sizeof host), 9);
    require_text(host, "192.0.2.7");
}

static void observer_is_released_once(void *argument)
{
    (void)argument;
    reach_queue *queue = reach_queue_create_manual();
    reach_monitor *monitor = reach_monitor_create("192.0.2.1");
    atomic_int removed = 0, ended = 0;
    uint64_t one = reach_monitor_add_observer(monitor, queue, observer_never_called, &removed, count_release);
    uint64_t two = reach_monitor_add_observer(monitor, queue, observer_never_called, &ended, count_release);
    require(one != 0 && two != 0 && one != two);
    require(reach_monitor_remove_observer(one));
    require_refused(reach_monitor_remove_observer(one), false, ENOENT);
    require_int(atomic_load(&removed), 1);
    reach_monitor_release(monitor);
    /* The release may be run where the queue is driven. */
    int64_t end = now_ms() + deadline_ms();
    while (atomic_load(&ended) == 0 && now_ms() < end) {
        require_int(reach_queue_dispatch(queue, 1), 0);
    }
    require_int(atomic_load(&ended), 1);
    require_refused(reach_monitor_remove_observer(two), false, ENOENT);
    reach_queue_release(queue);
}

/* ------------------------------------------------------------------------------------------- what is refused --- */

static scmp_filter_ctx new_filter(void)
{
    /* The older way of loading a filter, which valgrind knows. */
    require_int(seccomp_api_set(1), 0);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    require(filter != NULL);
    return filter;
}

/* Uses a queue of one kind in every way. False when there were no descriptors for some of it; no other error comes. */
static bool use_queue(bool manual, reach_target *online, reach_target *offline, atomic_int *released)
{
    errno = 0;
    reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("full");
    if (queue == NULL) {
        require_int(errno, EMFILE);
        atomic_fetch_add(released, 1);
        return false;
    }
    bool worked = reach_set_queue(online, queue);
    if (worked) {
        require(reach_set_queue(online, NULL));
    } else {
        require_int(errno, EMFILE);
    }
    uint64_t id = reach_confirm(offline, -1, queue, confirm_never_called, released, count_release);
    if (id != 0) {
        require(reach_confirm_cancel(id));
    } else {
        require_int(errno, EMFILE);
        worked = false;
    }
    reach_queue_release(queue);
    return worked;
}

/* However few descriptors there are, nothing is left open, and info is released. */
static void no_descriptors_left(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    reach_target *online = target("0.0.0.0");
    reach_target *offline = target("2001:db8:ffff::9");
    require_flags(online, ONLINE);
    int next = dup(STDIN_FILENO);
    require(next >= 0);
    close(next);
    size_t descriptors = count_descriptors();
    size_t threads = count_threads();
    bool enough = false;
    for (int room = 0; !enough; room++) {
        require_message(room < 16, "a queue needs more than 16 descriptors");
        atomic_int released = 0;
        enum { times = 20 };
        for (int time = 0; time < times; time++) {
            rlim_t before = limit_descriptors((rlim_t)(next + room));
            enough = use_queue(true, online, offline, &released);
            enough = use_queue(false, online, offline, &released) && enough;
            limit_descriptors(before);
            wait_threads(threads);
        }
        require_int(atomic_load(&released), 2 * times);
        require_message(count_descriptors() == descriptors, "with room for %d, something was left open", room);
    }
    reach_release(online);
    reach_release(offline);
}

/* A thread that cannot be had is an error of queues that need one, and of no others. */
static void no_threads_left(void *argument)
{
    (void)argument;
    size_t descriptors = count_descriptors();
    scmp_filter_ctx filter = new_filter();
    require_int(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone), 0), 0);
    require_int(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone3), 0), 0);
    require_int(seccomp_load(filter), 0);
    seccomp_release(filter);
    for (int time = 0; time < 100; time++) {
        require_refused(reach_queue_create("none"), NULL, EAGAIN);
        require_refused(reach_monitor_create("192.0.2.1"), NULL, EAGAIN);
        require_refused(reach_monitor_shared(), NULL, EAGAIN);
    }
    require_int(count_descriptors(), descriptors);
    reach_queue *manual = reach_queue_create_manual();
    require(manual != NULL);
    reach_target *zero = target("0.0.0.0");
    require(reach_set_queue(zero, manual));
    require(reach_set_queue(zero, NULL));
    reach_release(zero);
    reach_queue_release(manual);
    /* Whoever looks for leaks at exit would need a thread for it. */
    _exit(0);
}

/* Netlink refused: no queue can be told of anything, so none is made, or nothing can be scheduled on it. */
static void netlink_refused(void *argument)
{
    (void)argument;
    size_t descriptors = count_descriptors();
    size_t threads = count_threads();
    scmp_filter_ctx filter = new_filter();
    require_int(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1,
                                 SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0)), 0);
    require_int(seccomp_load(filter), 0);
    seccomp_release(filter);
    reach_target *zero = target("0.0.0.0");
    for (int manual = 0; manual < 2; manual++) {
        errno = 0;
        reach_queue *queue = manual ? reach_queue_create_manual() : reach_queue_create("cut off");
        if (queue == NULL) {
            require_int(errno, EACCES);
            continue;
        }
        require_refused(reach_set_queue(zero, queue), false, EACCES);
        require_refused_and_released(reach_confirm(zero, 0, queue, confirm_never_called, &released, count_release), 0,
                                     EACCES);
        require_refused(reach_set_queue(zero, NULL), false, ENOENT);
        reach_queue_release(queue);
    }
    reach_flags flags = 0x5678;
    require_refused(reach_wait(zero, 0, &flags), false, EACCES);
    require_refused(reach_wait(zero, 1000, &flags), false, EACCES);
    require_int(flags, 0x5678);
    reach_release(zero);
    wait_threads(threads);
    require_int(count_descriptors(), descriptors);
}

int main(void)
{
    static int yes;
    const struct CMUnitTest tests[] = {
        process_test(callback_arguments),
        process_test(callback_is_released_once),
        process_test(callback_that_is_none_with_info),
        namespace_test(scheduling_arguments),
        namespace_test(scheduled_twice),
        namespace_test(queue_arguments),
        namespace_test(queues_leave_nothing),
        namespace_test(labels_name_threads),
        namespace_test_with("waiting_inside_a_callback, thread queue", waiting_inside_a_callback, NULL),
        namespace_test_with("waiting_inside_a_callback, manual queue", waiting_inside_a_callback, &yes),
        namespace_test(driven_by_two_threads),
        namespace_test(confirm_arguments),
        namespace_test(wait_offline),
        namespace_test(cancel_confirmation),
        namespace_test(monitor_arguments),
        namespace_test(observer_is_released_once),
        namespace_test(no_descriptors_left),
        namespace_test(no_threads_left),
        namespace_test(netlink_refused),
    };
    return cmocka_run_group_tests_name("queues", tests, NULL, NULL);
}
