/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Random calls from several threads, while the network changes at random, against a model of what must hold whatever
 * the order of things was:
 *
 *   - info is released exactly once, after its last call, and never during one;
 *   - no callback begins after unscheduling and flushing, and none after an observer was removed and its queue flushed;
 *   - callbacks of a manual queue run on the thread that drives it, those of a thread queue on none of the caller's;
 *   - a confirmation is answered once, or cancelled, never both; online is never confirmed of what stays offline;
 *   - calls succeed or fail as the state of their target says;
 *   - whenever the network rests, each scheduled target's last word is what a fresh target says, and so is each
 *     monitor's status.
 *
 *     REACH_MODEL_SEED    where the random numbers begin; printed at the start of a run
 *     REACH_MODEL_ROUNDS  rounds, each with a rest of the network at its end
 *     REACH_MODEL_CALLS   calls of each thread in a round
 *     REACH_TEST_REPORT   a file that the figures are added to
 *     REACH_MODEL_WARM    1 uses everything once before there are threads: see use_everything_once
 *
 * A seed gives each thread the same calls again. How the threads mix is the scheduler's, so that a failure may need
 * several runs to come back.
 */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { worker_count = 4, slot_count = 24, queue_count = 5, manual_count = 2, monitor_count = 3, magic = 0x5eac4 };

#define HOST_ONE "198.51.100.7"
#define HOST_TWO "203.0.113.9"

/* ---------------------------------------------------------------------------------------------- random numbers --- */

static _Thread_local uint64_t random_state;

static void seed_thread(uint64_t seed, uint64_t stream)
{
    random_state = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (stream + 1) * UINT64_C(0xBF58476D1CE4E5B9);
}

static unsigned pick(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 16) % below);
}

/* ------------------------------------------------------------------------------------------------------- infos --- */

/* What is handed in as info. It is never freed, so that a use after its release is seen and not a crash. */
struct info {
    unsigned mark;
    atomic_int running;
    atomic_int calls;
    atomic_int released;
    atomic_int closed; /* nothing may be called any more */
    int manual;        /* the manual queue it is called on; -1 for a thread queue, -2 for any */
    bool confirms;
    _Atomic reach_flags flags;
    atomic_int status;
    struct info *next;
};

static _Atomic(struct info *) infos;
static _Thread_local int dispatching = -1; /* the manual queue that this thread drives now */
static _Thread_local bool is_ours;         /* this thread was made by the test */

static struct info *new_info(int manual)
{
    struct info *info = calloc(1, sizeof *info);
    require(info != NULL);
    info->mark = magic;
    info->manual = manual;
    atomic_init(&info->status, REACH_STATUS_UNKNOWN);
    info->next = atomic_load(&infos);
    while (!atomic_compare_exchange_weak(&infos, &info->next, info)) {
    }
    return info;
}

static void begin_call(struct info *info)
{
    require(info->mark == magic);
    require(!atomic_load(&info->released));
    require(!atomic_load(&info->closed));
    require(atomic_fetch_add(&info->running, 1) == 0);
    if (info->manual == -1) {
        require(!is_ours);
    } else if (info->manual >= 0) {
        require_int(dispatching, info->manual);
    }
    atomic_fetch_add(&info->calls, 1);
}

static void end_call(struct info *info)
{
    require(!atomic_load(&info->released));
    require(atomic_fetch_sub(&info->running, 1) == 1);
}

static void on_release(void *pointer)
{
    struct info *info = pointer;
    require(info->mark == magic);
    require_int(atomic_load(&info->running), 0);
    require_int(atomic_fetch_add(&info->released, 1), 0);
}

/* ----------------------------------------------------------------------------------------------------- objects --- */

/* A target and what the model knows of it. Its lock makes the calls that change its state one after the other, so that
 * it is known how each must end; callbacks and questions come from everywhere at any time. */
struct slot {
    pthread_mutex_t lock;
    reach_target *target;
    const char *text;
    int queue; /* -1 when it is not scheduled */
    struct info *info;
    /* What it said last since it was scheduled; without a callback, what it said while the network rested. */
    bool known_at_rest;
    reach_flags at_rest;
};

static struct slot slots[slot_count];
static reach_queue *queues[queue_count]; /* the first ones are manual */
static reach_monitor *monitors[monitor_count];
static struct info *monitor_infos[monitor_count];
static atomic_bool is_at_rest;
static atomic_bool is_over;
static atomic_ulong done_calls;
static const char *const texts[] = {
    "0.0.0.0",  "::",        HOST_ONE,     HOST_TWO,       "198.51.100.8",      "10.1.0.9",
    "10.1.0.2", "127.0.0.1", "192.0.2.77", "2001:db8::99", "2620:0:2d0:200::7",
};

static void on_change(reach_target *target, reach_flags flags, void *pointer)
{
    struct info *info = pointer;
    begin_call(info);
    reach_flags now;
    if (pick(4) == 0) {
        require(reach_get_flags(target, &now));
    }
    atomic_store(&info->flags, flags);
    end_call(info);
}

static void on_answer(reach_target *target, bool online, reach_flags flags, void *pointer)
{
    struct info *info = pointer;
    (void)target;
    begin_call(info);
    require_int(online, reach_flags_is_online(flags));
    require_int(atomic_load(&info->calls), 1);
    end_call(info);
}

static void on_status(reach_monitor *monitor, reach_status status, reach_status previous, const char *host,
                      void *pointer)
{
    struct info *info = pointer;
    (void)monitor;
    begin_call(info);
    require(strcmp(host, HOST_ONE) == 0 || strcmp(host, HOST_TWO) == 0);
    require(status != previous);
    require(status >= REACH_STATUS_NOT_REACHABLE && status <= REACH_STATUS_VIA_WIFI);
    atomic_store(&info->status, status);
    end_call(info);
}

static void fill_slot(struct slot *slot)
{
    slot->text = texts[pick(sizeof texts / sizeof texts[0])];
    slot->target = target(slot->text);
    slot->queue = -1;
    slot->info = NULL;
}

/* --------------------------------------------------------------------------------------------------- the calls --- */

static void set_callback(struct slot *slot)
{
    struct info *info = NULL;
    if (pick(5) != 0) {
        info = new_info(slot->queue < 0 ? -2 : slot->queue < manual_count ? slot->queue : -1);
        atomic_store(&info->flags, 0xffffffff);
    }
    require(reach_set_callback(slot->target, info == NULL ? NULL : on_change, info, info == NULL ? NULL : on_release));
    slot->info = info;
    slot->known_at_rest = false;
}

static void schedule(struct slot *slot)
{
    int queue = (int)pick(queue_count);
    if (slot->queue >= 0) {
        require_refused(reach_set_queue(slot->target, queues[queue]), false, EBUSY);
        return;
    }
    /* The callback is told where it belongs before it can run. */
    slot->queue = queue;
    set_callback(slot);
    slot->known_at_rest = atomic_load(&is_at_rest) && reach_get_flags(slot->target, &slot->at_rest);
    require_message(reach_set_queue(slot->target, queues[queue]), "scheduling: %s", errno_name(errno));
}

/* Without a reference of the caller's, the target goes with its schedule, and its callback with it. */
static void unschedule_as(struct slot *slot, bool has_reference)
{
    if (slot->queue < 0) {
        require_refused(reach_set_queue(slot->target, NULL), false, ENOENT);
        return;
    }
    require_message(reach_set_queue(slot->target, NULL), "unscheduling: %s", errno_name(errno));
    require_message(reach_queue_flush(queues[slot->queue]), "flushing: %s", errno_name(errno));
    if (slot->info != NULL) {
        require_int(atomic_load(&slot->info->running), 0);
        atomic_store(&slot->info->closed, 1);
    }
    /* What is closed stays closed: the next schedule has a callback of its own. */
    if (has_reference) {
        require(reach_set_callback(slot->target, NULL, NULL, NULL));
    }
    slot->info = NULL;
    slot->queue = -1;
}

static void unschedule(struct slot *slot)
{
    unschedule_as(slot, true);
}

static void replace(struct slot *slot)
{
    if (pick(2) == 0 && slot->queue >= 0) {
        /* A scheduled target is alive without any reference. */
        reach_release(slot->target);
        unschedule_as(slot, false);
    } else {
        if (slot->queue >= 0) {
            unschedule(slot);
        }
        reach_release(slot->target);
    }
    fill_slot(slot);
}

static void confirm(struct slot *slot)
{
    int queue = (int)pick(queue_count);
    struct info *info = new_info(queue < manual_count ? queue : -1);
    info->confirms = true;
    int timeout = (int)pick(8);
    uint64_t id = reach_confirm(slot->target, timeout, queues[queue], on_answer, info, on_release);
    require_message(id != 0, "confirming: %s", errno_name(errno));
    if (pick(2) == 0) {
        bool cancelled = reach_confirm_cancel(id);
        if (cancelled) {
            require_int(atomic_load(&info->calls), 0);
            atomic_store(&info->closed, 1);
            require_refused(reach_confirm_cancel(id), false, ENOENT);
        } else {
            require_int(errno, ENOENT);
        }
    }
}

static void ask(struct slot *slot)
{
    reach_flags flags;
    reach_path path;
    require_message(reach_get_flags(slot->target, &flags), "asking: %s", errno_name(errno));
    require_message(reach_get_path(slot->target, &path, sizeof path), "asking for the path: %s", errno_name(errno));
    require_int(path.reason == REACH_REASON_REACHABLE, reach_flags_is_online(path.flags));
    if (strcmp(slot->text, "127.0.0.1") == 0) {
        require_int(flags, REACH_FLAG_REACHABLE | REACH_FLAG_IS_LOCAL_ADDRESS | REACH_FLAG_IS_DIRECT);
    }
}

static void wait_shortly(struct slot *slot)
{
    reach_flags flags;
    errno = 0;
    bool online = reach_wait(slot->target, (int)pick(3), &flags);
    require_message(online || errno == ETIMEDOUT, "waiting: %s", errno_name(errno));
    require_int(online, reach_flags_is_online(flags));
}

static void queues_come_and_go(void)
{
    reach_queue *queue = pick(2) == 0 ? reach_queue_create("passing") : reach_queue_create_manual();
    require_message(queue != NULL, "a queue: %s", errno_name(errno));
    reach_target *passing = target(texts[pick(sizeof texts / sizeof texts[0])]);
    struct info *info = new_info(-2);
    require(reach_set_callback(passing, on_change, info, on_release));
    require(reach_set_queue(passing, queue));
    reach_queue_release(queue);
    require(reach_set_queue(passing, NULL));
    reach_release(passing);
}

static void monitors_come_and_go(void)
{
    int queue = (int)pick(queue_count);
    struct info *info = new_info(queue < manual_count ? queue : -1);
    reach_monitor *monitor = reach_monitor_create(pick(2) == 0 ? HOST_ONE : HOST_TWO);
    require_message(monitor != NULL, "a monitor: %s", errno_name(errno));
    uint64_t id = reach_monitor_add_observer(monitor, queues[queue], on_status, info, on_release);
    require_message(id != 0, "an observer: %s", errno_name(errno));
    if (pick(2) == 0) {
        require(reach_monitor_set_host(monitor, pick(2) == 0 ? HOST_ONE : HOST_TWO));
    }
    if (pick(2) == 0) {
        require(reach_monitor_remove_observer(id));
        require(reach_queue_flush(queues[queue]));
        atomic_store(&info->closed, 1);
        require_refused(reach_monitor_remove_observer(id), false, ENOENT);
    }
    reach_monitor_release(monitor);
}

static void change_host(void)
{
    char host[64];
    reach_monitor *monitor = monitors[pick(monitor_count)];
    require(reach_monitor_set_host(monitor, pick(2) == 0 ? HOST_ONE : HOST_TWO));
    require(reach_monitor_get_host(monitor, host, sizeof host) < sizeof host);
    require(strcmp(host, HOST_ONE) == 0 || strcmp(host, HOST_TWO) == 0);
    (void)reach_monitor_get_status(monitor);
    (void)reach_monitor_is_reachable(monitor);
}

static void call_something(void)
{
    struct slot *slot = &slots[pick(slot_count)];
    unsigned what = pick(20);
    if (what == 17) {
        queues_come_and_go();
    } else if (what == 18) {
        monitors_come_and_go();
    } else if (what == 19) {
        change_host();
    } else {
        pthread_mutex_lock(&slot->lock);
        switch (what) {
        case 0:
        case 1:
        case 2:
        case 3:
            schedule(slot);
            break;
        case 4:
        case 5:
            unschedule(slot);
            break;
        case 6:
            if (slot->queue < 0) {
                set_callback(slot);
            }
            break;
        case 7:
            replace(slot);
            break;
        case 8:
            confirm(slot);
            break;
        case 9:
            wait_shortly(slot);
            break;
        case 10: {
            reach_target *kept = reach_retain(slot->target);
            require(kept == slot->target);
            reach_release(kept);
            break;
        }
        default:
            ask(slot);
            break;
        }
        pthread_mutex_unlock(&slot->lock);
    }
    atomic_fetch_add(&done_calls, 1);
}

/* ------------------------------------------------------------------------------------------------- the network --- */

static void change_network(void)
{
    static const char *const changes[] = {
        "route replace default via 10.1.0.1 dev wan0",
        "route del default",
        "route replace default via 10.2.0.1 dev wan1",
        "route replace default via 10.1.0.1 dev wan0 metric 50",
        "route del default metric 50",
        "route add unreachable default metric 5",
        "route del unreachable default metric 5",
        "route replace 0.0.0.0/1 via 10.2.0.1",
        "route replace 128.0.0.0/1 via 10.2.0.1",
        "route del 0.0.0.0/1",
        "route del 128.0.0.0/1",
        "route replace 198.51.100.7/32 via 10.1.0.1",
        "route del 198.51.100.7/32",
        "route add prohibit 203.0.113.0/24",
        "route del prohibit 203.0.113.0/24",
        "route add blackhole 192.0.2.0/24",
        "route del blackhole 192.0.2.0/24",
        "rule add to 198.51.100.8/32 prohibit",
        "rule del to 198.51.100.8/32",
        "link set wan0 down",
        "link set wan0 up",
        "link set wan1 down",
        "link set wan1 up",
        "link set wan0 mode dormant",
        "link set wan0 mode default",
        "address del 10.1.0.2/24 dev wan0",
        "address add 10.1.0.2/24 dev wan0",
        "-6 route replace default via 2001:db8:1::1 dev wan0",
        "-6 route del default",
        "-6 route replace 2620::/16 via 2001:db8:1::1 dev wan0",
        "-6 route del 2620::/16",
        "address add 2001:db8:1::2/64 dev wan0 nodad",
        "nexthop add id 7 via 10.2.0.1 dev wan1",
        "nexthop del id 7",
        "route add 10.1.0.9/32 nhid 7",
        "route add 192.0.3.0/24 via 10.1.0.1",
        "route del 192.0.3.0/24",
    };
    (void)ip_try("%s", changes[pick(sizeof changes / sizeof changes[0])]);
}

/* ----------------------------------------------------------------------------------------------------- threads --- */

static pthread_barrier_t round_begins, round_ends;
static unsigned calls_in_round;
static uint64_t seed;

static void *work(void *argument)
{
    is_ours = true;
    seed_thread(seed, (uint64_t)(uintptr_t)argument);
    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (atomic_load(&is_over)) {
            return NULL;
        }
        for (unsigned i = 0; i < calls_in_round; i++) {
            call_something();
        }
        pthread_barrier_wait(&round_ends);
    }
}

static void *drive(void *argument)
{
    int queue = (int)(uintptr_t)argument;
    is_ours = true;
    seed_thread(seed, 100 + (uint64_t)queue);
    struct pollfd descriptor = { .fd = reach_queue_fd(queues[queue]), .events = POLLIN };
    require(descriptor.fd >= 0);
    while (!atomic_load(&is_over)) {
        /* The time is only for seeing the end. */
        require(poll(&descriptor, 1, 20) >= 0);
        dispatching = queue;
        require_message(reach_queue_dispatch(queues[queue], 0) >= 0, "dispatching: %s", errno_name(errno));
        dispatching = -1;
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------- at rest --- */

/* What a target says that was made just now. */
static reach_flags truth_about(const char *text)
{
    reach_target *fresh = target(text);
    reach_flags flags;
    require(reach_get_flags(fresh, &flags));
    reach_release(fresh);
    return flags;
}

/* Looks again and again: callbacks of the last changes may be on their way, the kernel itself takes its time with
 * links, and there is no event for "no more". */
static void wait_until_told(struct slot *slot, int number)
{
    int64_t end = now_ms() + deadline_ms();
    for (;;) {
        reach_flags truth = truth_about(slot->text), own, last = 0xffffffff;
        require(reach_get_flags(slot->target, &own));
        bool told = true;
        if (slot->queue >= 0 && slot->info != NULL) {
            if (atomic_load(&slot->info->calls) > 0) {
                last = atomic_load(&slot->info->flags);
                told = last == truth;
            } else if (slot->known_at_rest) {
                last = slot->at_rest;
                told = last == truth;
            }
        }
        if (told && own == truth) {
            return;
        }
        require_message(now_ms() < end,
                        "slot %d, %s on queue %d: last told 0x%x in %d calls, asked 0x%x, and it is 0x%x", number,
                        slot->text, slot->queue, last,
                        slot->info == NULL ? 0 : atomic_load(&slot->info->calls), own, truth);
        sched_yield();
    }
}

static bool monitor_agrees(int number, const char *host)
{
    reach_status truth = reach_flags_status(truth_about(host));
    int told = atomic_load(&monitor_infos[number]->status);
    return reach_monitor_get_status(monitors[number]) == truth && (told == truth || told == REACH_STATUS_UNKNOWN);
}

static void check_monitors(void)
{
    for (int i = 0; i < monitor_count; i++) {
        int64_t end = now_ms() + deadline_ms();
        char host[64];
        require(reach_monitor_get_host(monitors[i], host, sizeof host) < sizeof host);
        while (!monitor_agrees(i, host)) {
            require_message(now_ms() < end, "monitor %d of %s has status %d, told %d, and flags are 0x%x", i, host,
                            reach_monitor_get_status(monitors[i]), atomic_load(&monitor_infos[i]->status),
                            truth_about(host));
            sched_yield();
        }
    }
}

/* One call of each kind before there are threads. What the library sets up at its first use is ordered by atomic
 * operations, which helgrind does not see; the start of a thread it does. */
static void use_everything_once(void)
{
    reach_queue *queue = reach_queue_create("once"), *manual = reach_queue_create_manual();
    struct slot slot = { .queue = -1 };
    reach_flags flags;
    fill_slot(&slot);
    require(queue != NULL && manual != NULL);
    require(reach_get_flags(slot.target, &flags));
    require(reach_set_queue(slot.target, manual) && reach_queue_dispatch(manual, 0) >= 0);
    require(reach_set_queue(slot.target, NULL));
    (void)reach_wait(slot.target, 1, NULL);
    require(reach_confirm(slot.target, 0, queue, on_answer, new_info(-1), on_release) != 0);
    reach_monitor *monitor = reach_monitor_create(HOST_ONE);
    uint64_t id = reach_monitor_add_observer(monitor, queue, on_status, new_info(-1), on_release);
    require(id != 0 && reach_monitor_set_host(monitor, HOST_TWO) && reach_monitor_remove_observer(id));
    reach_monitor_release(monitor);
    reach_release(slot.target);
    reach_queue_release(queue);
    reach_queue_release(manual);
}

static unsigned setting(const char *name, unsigned usual)
{
    const char *value = getenv(name);
    return value == NULL ? usual : (unsigned)strtoul(value, NULL, 10);
}

static void model(void *argument)
{
    (void)argument;
    const char *given = getenv("REACH_MODEL_SEED");
    if (given != NULL) {
        seed = strtoull(given, NULL, 10);
    } else {
        require(getrandom(&seed, sizeof seed, 0) == sizeof seed);
        seed %= 1000000000;
    }
    unsigned rounds = setting("REACH_MODEL_ROUNDS", 60);
    calls_in_round = setting("REACH_MODEL_CALLS", 400);
    printf("REACH_MODEL_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    is_ours = true;
    seed_thread(seed, 200);

    ip("link set lo up");
    veth("wan0", "10.1.0.2/24", "2001:db8:1::2/64");
    veth("wan1", "10.2.0.2/24");
    if (setting("REACH_MODEL_WARM", 0) != 0) {
        use_everything_once();
    }
    pthread_t workers[worker_count], drivers[manual_count];
    require(pthread_barrier_init(&round_begins, NULL, worker_count + 1) == 0);
    require(pthread_barrier_init(&round_ends, NULL, worker_count + 1) == 0);
    for (int i = 0; i < queue_count; i++) {
        queues[i] = i < manual_count ? reach_queue_create_manual() : reach_queue_create("model");
        require(queues[i] != NULL);
    }
    for (int i = 0; i < slot_count; i++) {
        require(pthread_mutex_init(&slots[i].lock, NULL) == 0);
        fill_slot(&slots[i]);
    }
    uint64_t observers[monitor_count];
    for (int i = 0; i < monitor_count; i++) {
        monitors[i] = reach_monitor_create(HOST_ONE);
        int queue = (int)pick(queue_count);
        monitor_infos[i] = new_info(queue < manual_count ? queue : -1);
        observers[i] = reach_monitor_add_observer(monitors[i], queues[queue], on_status, monitor_infos[i], on_release);
        require(monitors[i] != NULL && observers[i] != 0);
    }
    for (uintptr_t i = 0; i < manual_count; i++) {
        require(pthread_create(&drivers[i], NULL, drive, (void *)i) == 0);
    }
    for (uintptr_t i = 0; i < worker_count; i++) {
        require(pthread_create(&workers[i], NULL, work, (void *)i) == 0);
    }

    unsigned long changes = 0;
    for (unsigned round = 0; round < rounds; round++) {
        /* Some schedules begin while the network rests, so that silence is known to mean "as before". */
        atomic_store(&is_at_rest, true);
        for (int i = 0; i < slot_count; i++) {
            if (slots[i].queue < 0 && pick(3) == 0) {
                schedule(&slots[i]);
            }
        }
        atomic_store(&is_at_rest, false);
        unsigned long before = atomic_load(&done_calls);
        pthread_barrier_wait(&round_begins);
        while (atomic_load(&done_calls) - before < (unsigned long)worker_count * calls_in_round) {
            change_network();
            changes++;
        }
        pthread_barrier_wait(&round_ends);
        for (int i = 0; i < slot_count; i++) {
            wait_until_told(&slots[i], i);
        }
        check_monitors();
    }

    atomic_store(&is_over, true);
    pthread_barrier_wait(&round_begins);
    for (size_t i = 0; i < worker_count; i++) {
        require(pthread_join(workers[i], NULL) == 0);
    }
    for (int i = 0; i < slot_count; i++) {
        if (slots[i].queue >= 0) {
            unschedule(&slots[i]);
        }
        reach_release(slots[i].target);
    }
    for (int i = 0; i < monitor_count; i++) {
        require(reach_monitor_remove_observer(observers[i]));
        reach_monitor_release(monitors[i]);
    }
    for (size_t i = 0; i < manual_count; i++) {
        require(pthread_join(drivers[i], NULL) == 0);
    }
    /* Confirmations may still be pending on the manual queues, which nobody drives any more. */
    int64_t end = now_ms() + deadline_ms();
    unsigned long count = 0, called = 0;
    for (struct info *info = atomic_load(&infos); info != NULL; info = info->next) {
        while (!atomic_load(&info->released)) {
            for (int i = 0; i < manual_count; i++) {
                dispatching = i;
                require(reach_queue_dispatch(queues[i], 0) >= 0);
                dispatching = -1;
            }
            require_message(now_ms() < end, "an info of queue %d with %d calls was never released", info->manual,
                            atomic_load(&info->calls));
            sched_yield();
        }
        require(!info->confirms || atomic_load(&info->calls) == (atomic_load(&info->closed) ? 0 : 1));
        count++;
        called += (unsigned long)atomic_load(&info->calls);
    }
    for (int i = 0; i < queue_count; i++) {
        reach_queue_release(queues[i]);
    }
    /* The harness shows what a scenario prints only when it fails. */
    const char *path = getenv("REACH_TEST_REPORT");
    FILE *report = path == NULL ? stdout : fopen(path, "ae");
    require(report != NULL);
    fprintf(report, "seed %llu: %u rounds, %lu calls, %lu changes of the network, %lu callbacks, %lu infos\n",
            (unsigned long long)seed, rounds, atomic_load(&done_calls), changes, called, count);
    fflush(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
