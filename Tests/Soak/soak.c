/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * A long life in a short time: what a process goes through in months. Memory in use, descriptors and threads are
 * written down after a tenth of it and must be the same at its end.
 *
 *     REACH_SOAK_PART     does a part of it: 10 for a tenth
 *     REACH_TEST_REPORT   a file that the figures are added to
 */
#include "support.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "default_route.h"

#define ONLINE REACH_FLAG_REACHABLE
#define OUTSIDE "198.51.100.7"

enum { flips = 1000000, cycles = 100000, thread_cycles = 10000 };

/* Memory that the last thing that ran may still hold, and what the allocator's own books vary by. A leak of one object
 * a cycle would be a hundred times that. */
enum { tolerated_bytes = 32768 };

static struct default_route route;
static unsigned long part;

static void connected(void)
{
    const char *value = getenv("REACH_SOAK_PART");
    part = value == NULL ? 1 : strtoul(value, NULL, 10);
    require(part > 0);
    /* The harness's alarm is made for scenarios of seconds. */
    alarm(3600);
    ip("link set lo up");
    veth("wan0", "10.1.0.2/24");
    require_message(default_route_open(&route, "wan0", "10.1.0.1"), "%s", errno_name(errno));
    require_int(default_route_set(&route, true), 0);
}

/* --------------------------------------------------------------------------------------------------- the books --- */

/* The harness shows what a scenario prints only when it fails; figures are wanted in each case. */
__attribute__((format(printf, 1, 2))) static void report(const char *format, ...)
{
    const char *path = getenv("REACH_TEST_REPORT");
    FILE *file = path == NULL ? stdout : fopen(path, "ae");
    va_list arguments;
    require_message(file != NULL, "%s: %s", path, errno_name(errno));
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    if (file == stdout) {
        fflush(file);
    } else {
        fclose(file);
    }
}

struct usage {
    size_t bytes, resident, descriptors, threads;
};

static struct usage usage_now(void)
{
    struct usage usage = { .descriptors = count_descriptors(), .threads = count_threads() };
    struct mallinfo2 heap = mallinfo2();
    usage.bytes = heap.uordblks + heap.hblkhd;
    FILE *statm = fopen("/proc/self/statm", "re");
    unsigned long total, resident = 0;
    require(statm != NULL && fscanf(statm, "%lu %lu", &total, &resident) == 2);
    fclose(statm);
    usage.resident = resident * (size_t)sysconf(_SC_PAGESIZE);
    return usage;
}

static void require_flat(const char *what, struct usage early, struct usage late)
{
    report("%s: bytes in use %zu and %zu, resident %zu and %zu KiB, descriptors %zu and %zu, threads %zu and %zu\n",
           what, early.bytes, late.bytes, early.resident / 1024, late.resident / 1024, early.descriptors,
           late.descriptors, early.threads, late.threads);
    require_message(late.bytes <= early.bytes + tolerated_bytes, "memory grew from %zu to %zu bytes", early.bytes,
                    late.bytes);
    require_message(late.resident <= early.resident + (1u << 20), "resident memory grew from %zu to %zu bytes",
                    early.resident, late.resident);
    require_int(late.descriptors, early.descriptors);
    require_int(late.threads, early.threads);
}

/* ------------------------------------------------------------------------------------------------------- flips --- */

static atomic_ulong callbacks;

struct heard {
    atomic_ulong calls;
    _Atomic reach_flags flags;
};

static void on_change(reach_target *target, reach_flags flags, void *info)
{
    struct heard *heard = info;
    (void)target;
    if (heard != NULL) {
        atomic_store(&heard->flags, flags);
        atomic_fetch_add(&heard->calls, 1);
    }
}

static void wait_for_flags(struct heard *heard, reach_queue *manual, reach_flags flags)
{
    int64_t end = now_ms() + deadline_ms();
    while (atomic_load(&heard->flags) != flags) {
        require_message(now_ms() < end, "told 0x%x, not 0x%x", atomic_load(&heard->flags), flags);
        if (manual != NULL) {
            require(reach_queue_dispatch(manual, 100) >= 0);
        } else {
            sched_yield();
        }
    }
}

static void route_flips(void *argument)
{
    (void)argument;
    connected();
    struct heard on_thread = { 0 }, by_hand = { 0 };
    reach_queue *thread = reach_queue_create("soak"), *manual = reach_queue_create_manual();
    reach_target *internet = target("0.0.0.0"), *outside = target(OUTSIDE), *other = target("203.0.113.9");
    require(thread != NULL && manual != NULL);
    require(reach_set_callback(internet, on_change, &on_thread, NULL) && reach_set_queue(internet, thread));
    require(reach_set_callback(outside, on_change, &by_hand, NULL) && reach_set_queue(outside, manual));

    unsigned long count = flips / part, warm = count / 10;
    struct usage early = { 0 };
    bool present = true;
    for (unsigned long i = 0; i < count; i++) {
        present = !present;
        require_int(default_route_set(&route, present), 0);
        if (i % 16 == 0) {
            require_flags(other, present ? ONLINE : 0);
        }
        if (i % 64 == 0) {
            require(reach_queue_dispatch(manual, 0) >= 0);
        }
        if (i == warm) {
            early = usage_now();
        }
    }
    /* The end of the storm is told, and so is the next change. */
    for (int i = 0; i < 4; i++) {
        present = !present;
        require_int(default_route_set(&route, present), 0);
        wait_for_flags(&on_thread, NULL, present ? ONLINE : 0);
        wait_for_flags(&by_hand, manual, present ? ONLINE : 0);
    }
    require_flat("route flips", early, usage_now());
    report("%lu flips, %lu callbacks on a thread, %lu by hand\n", count, atomic_load(&on_thread.calls),
           atomic_load(&by_hand.calls));
    require(reach_set_queue(internet, NULL) && reach_set_queue(outside, NULL));
    reach_release(internet);
    reach_release(outside);
    reach_release(other);
    reach_queue_release(thread);
    reach_queue_release(manual);
}

/* ------------------------------------------------------------------------------------------------------ cycles --- */

static atomic_ulong releases;

static void on_release(void *info)
{
    (void)info;
    atomic_fetch_add(&releases, 1);
}

static void on_answer(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
    require(online);
    atomic_fetch_add(&callbacks, 1);
}

static void on_status(reach_monitor *monitor, reach_status status, reach_status previous, const char *host, void *info)
{
    (void)monitor;
    (void)status;
    (void)previous;
    (void)host;
    (void)info;
}

static void wait_count(atomic_ulong *counter, unsigned long count)
{
    int64_t end = now_ms() + deadline_ms();
    while (atomic_load(counter) < count) {
        require_message(now_ms() < end, "%lu of %lu", atomic_load(counter), count);
        sched_yield();
    }
    require_int(atomic_load(counter), count);
}

static void schedules(void *argument)
{
    (void)argument;
    connected();
    reach_queue *thread = reach_queue_create("soak"), *manual = reach_queue_create_manual();
    reach_target *kept = target(OUTSIDE);
    require(thread != NULL && manual != NULL);
    unsigned long count = cycles / part;
    struct usage early = { 0 };
    for (unsigned long i = 0; i < count; i++) {
        reach_queue *queue = i % 2 == 0 ? thread : manual;
        reach_target *fresh = i % 3 == 0 ? target_name("localhost") : target(i % 3 == 1 ? "0.0.0.0" : "203.0.113.9");
        require(reach_set_callback(fresh, on_change, NULL, on_release));
        require(reach_set_queue(fresh, queue) && reach_set_queue(kept, queue));
        reach_flags flags;
        require(reach_get_flags(fresh, &flags));
        if (i % 8 == 0) {
            require(reach_queue_dispatch(manual, 0) >= 0);
        }
        require(reach_set_queue(fresh, NULL) && reach_set_queue(kept, NULL));
        reach_release(fresh);
        if (i == count / 10) {
            require(reach_queue_flush(thread) && reach_queue_dispatch(manual, 0) >= 0);
            early = usage_now();
        }
    }
    require(reach_queue_flush(thread) && reach_queue_dispatch(manual, 0) >= 0);
    wait_count(&releases, count);
    require_flat("schedules", early, usage_now());
    report("%lu cycles\n", count);
    reach_release(kept);
    reach_queue_release(thread);
    reach_queue_release(manual);
}

static void confirmations_and_monitors(void *argument)
{
    (void)argument;
    connected();
    reach_queue *thread = reach_queue_create("soak");
    reach_target *internet = target("0.0.0.0");
    require(thread != NULL);
    unsigned long count = cycles / part / 4, answers = 0, given = 0;
    struct usage early = { 0 };
    for (unsigned long i = 0; i < count; i++) {
        uint64_t id = reach_confirm(internet, 1000, thread, on_answer, NULL, on_release);
        require(id != 0);
        given++;
        answers += !(i % 2 == 0 && reach_confirm_cancel(id));
        if (i % 4 == 0) {
            reach_monitor *monitor = reach_monitor_create(OUTSIDE);
            require(monitor != NULL);
            require(reach_monitor_add_observer(monitor, thread, on_status, NULL, on_release) != 0);
            given++;
            require(reach_monitor_set_host(monitor, "203.0.113.9"));
            reach_monitor_release(monitor);
        }
        require(reach_wait(internet, 0, NULL));
        if (i % 100 == 99) {
            wait_count(&callbacks, answers);
        }
        if (i == count / 10) {
            wait_count(&releases, given);
            early = usage_now();
        }
    }
    wait_count(&callbacks, answers);
    wait_count(&releases, given);
    require_flat("confirmations and monitors", early, usage_now());
    report("%lu confirmations, %lu answers, %lu infos\n", count, answers, given);
    reach_release(internet);
    reach_queue_release(thread);
}

enum { at_once = 16 };

static reach_queue *passing_queue(reach_target **fresh)
{
    reach_queue *queue = reach_queue_create("passing");
    require_message(queue != NULL, "a queue: %s", errno_name(errno));
    *fresh = target(OUTSIDE);
    require(reach_set_callback(*fresh, on_change, NULL, on_release));
    require(reach_set_queue(*fresh, queue));
    return queue;
}

static void thread_queues(void *argument)
{
    (void)argument;
    connected();
    unsigned long count = thread_cycles / part;
    size_t threads = count_threads();
    /* As many threads at once as the loop below may have: libc keeps their stacks and arenas for the next ones. */
    reach_queue *together[at_once];
    reach_target *warming[at_once];
    for (int i = 0; i < at_once; i++) {
        together[i] = passing_queue(&warming[i]);
    }
    for (int i = 0; i < at_once; i++) {
        reach_queue_release(together[i]);
        require(reach_set_queue(warming[i], NULL));
        reach_release(warming[i]);
    }
    wait_threads(threads);
    wait_count(&releases, at_once);
    struct usage early = usage_now();
    for (unsigned long i = 0; i < count; i++) {
        reach_target *fresh;
        reach_queue_release(passing_queue(&fresh));
        require(reach_set_queue(fresh, NULL));
        reach_release(fresh);
        if (i % at_once == at_once - 1) {
            wait_threads(threads);
        }
    }
    wait_threads(threads);
    wait_count(&releases, count + at_once);
    require_flat("thread queues", early, usage_now());
    report("%lu threads, one after the other\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(route_flips),
        namespace_test(schedules),
        namespace_test(confirmations_and_monitors),
        namespace_test(thread_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
