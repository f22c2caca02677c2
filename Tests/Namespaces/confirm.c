/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Confirmed answers: one answer each, online as soon as that is so and offline at the deadline, however the network
 * flaps meanwhile; none after cancelling; and the same as a call that waits. A deadline of an hour shows that an answer
 * came with the change: the test would not live to see the deadline.
 */
#include "dns.h"
#include "journal.h"
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO 0u
#define YES REACH_FLAG_REACHABLE
#define WAN (REACH_FLAG_REACHABLE | REACH_FLAG_TRANSIENT_CONNECTION | REACH_FLAG_IS_WWAN)
#define DORMANT (REACH_FLAG_REACHABLE | REACH_FLAG_TRANSIENT_CONNECTION | REACH_FLAG_CONNECTION_REQUIRED)
#define NEAR (REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT)
#define OWN (NEAR | REACH_FLAG_IS_LOCAL_ADDRESS)

#define OFFLINE_NETWORK "link set lo up\nveth wan0 10.1.0.2/24\n"
#define GO_OFFLINE "route del default\n"
#define GO_ONLINE "route add default via 10.1.0.1\n"
#define ONLINE_NETWORK OFFLINE_NETWORK GO_ONLINE

enum { hour = 3600 * 1000 };

/* ------------------------------------------------------------------------------------------------------- askers --- */

/*
 * The info of a confirmation, and what it comes to, which is written as "NAME: online FLAGS" or "NAME: offline FLAGS",
 * and "NAME: released". A quiet one only counts.
 */
struct asker {
    const char *name;
    struct journal *journal; /* NULL for a quiet one */
    pthread_t caller; /* who asked: it must be called by it, or by another thread */
    bool manual;
    bool moves; /* it may be called by any thread */
    reach_target *target;
    void (*act)(struct asker *asker);
    _Atomic uint64_t id;
    atomic_int inside, answers, releases;
};

static void answered(reach_target *target, bool online, reach_flags flags, void *info)
{
    struct asker *asker = info;
    require(target == asker->target);
    require(online == reach_flags_is_online(flags));
    require(asker->moves || (pthread_equal(asker->caller, pthread_self()) != 0) == asker->manual);
    require_message(atomic_load(&asker->releases) == 0, "an answer came after info was released");
    require_message(atomic_fetch_add(&asker->answers, 1) == 0, "a second answer came");
    atomic_fetch_add(&asker->inside, 1);
    if (asker->journal != NULL) {
        journal_write(asker->journal, "%s: %s 0x%x", asker->name, online ? "online" : "offline", flags);
    }
    if (asker->act != NULL) {
        asker->act(asker);
        journal_write(asker->journal, "%s: leaves", asker->name);
    }
    atomic_fetch_sub(&asker->inside, 1);
}

static void released(void *info)
{
    struct asker *asker = info;
    require_message(atomic_load(&asker->inside) == 0, "info was released while it was used");
    /* No lock of the library is held here, so that everything may be called, and errno is nobody else's. */
    reach_is_online();
    errno = 0;
    require_message(atomic_fetch_add(&asker->releases, 1) == 0, "info was released twice");
    if (asker->journal != NULL) {
        journal_write(asker->journal, "%s: released", asker->name);
    }
}

static uint64_t confirm(struct asker *asker, reach_target *target, int timeout, reach_queue *queue)
{
    asker->target = target;
    asker->caller = pthread_self();
    uint64_t id = reach_confirm(target, timeout, queue, answered, asker, released);
    require_message(id != 0, "reach_confirm: %s", errno_name(errno));
    return id;
}

/* A queue of either kind with a barrier on it. The loopback link must be up. */
struct desk {
    reach_queue *queue;
    reach_queue *manual; /* the same, or NULL when it has a thread */
    struct journal *journal;
    struct barrier *barrier;
};

/* The argument of a scenario says which kind. */
static int with_thread = 0;
static int by_hand = 1;

static void desk_create(struct desk *desk, const void *kind)
{
    bool manual = *(const int *)kind != 0;
    desk->queue = manual ? reach_queue_create_manual() : reach_queue_create("desk");
    require_message(desk->queue != NULL, "%s", errno_name(errno));
    desk->manual = manual ? desk->queue : NULL;
    desk->journal = journal_create();
    reach_is_online(); /* opens the sockets for questions, so that they are not counted with what comes later */
    desk->barrier = barrier_create(desk->queue, manual);
}

static struct asker asker_at(struct desk *desk, const char *name)
{
    return (struct asker){ .name = name, .journal = desk->journal, .manual = desk->manual != NULL };
}

#define expect(desk, ...) require_line((desk)->journal, (desk)->manual, __VA_ARGS__)

static void require_nothing(struct desk *desk)
{
    barrier_pass(desk->barrier);
    require_silence(desk->journal);
}

static void desk_free(struct desk *desk)
{
    require_nothing(desk);
    barrier_free(desk->barrier);
    require(reach_queue_flush(desk->queue));
    reach_queue_release(desk->queue);
    journal_free(desk->journal);
}

/* The answer of a desk's only asker. */
static void expect_answer(struct desk *desk, const char *name, reach_flags flags)
{
    expect(desk, "%s: %s 0x%x", name, reach_flags_is_online(flags) ? "online" : "offline", flags);
    expect(desk, "%s: released", name);
}

static const int timeouts[] = { 0, 1, 500, hour, INT_MAX, -1 };

enum { timeout_count = sizeof timeouts / sizeof *timeouts };

/* ------------------------------------------------------------------------------------------- online and offline --- */

static void online_at_once(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *targets[] = { target("0.0.0.0"), target("203.0.113.9"), target("10.1.0.9"), target("10.1.0.2"),
                                target_pair("10.1.0.2", "203.0.113.9"), target_name("localhost") };
    static const reach_flags flags[] = { YES, YES, NEAR, OWN, YES, OWN };
    for (size_t index = 0; index < sizeof targets / sizeof *targets; index++) {
        for (int time = 0; time < timeout_count; time++) {
            struct asker asker = asker_at(&desk, "a");
            uint64_t id = confirm(&asker, targets[index], timeouts[time], desk.queue);
            if (desk.manual != NULL) {
                require_silence(desk.journal); /* not from inside the call */
                require_int(reach_queue_dispatch(desk.queue, 0), 1); /* and yet at once */
                require_int(journal_pending(desk.journal), 2);
            }
            expect_answer(&desk, "a", flags[index]);
            require_refused(reach_confirm_cancel(id), false, ENOENT);
        }
        reach_release(targets[index]);
    }
    desk_free(&desk);
}

/* The answer comes with the change, of whatever kind it is, and not before it. */
static void offline_then_online(void *argument)
{
    network(OFFLINE_NETWORK "tun wwan0 519\nlink set wwan0 up\naddress add 10.2.0.2/32 dev wwan0\n");
    struct desk desk;
    desk_create(&desk, argument);
    static const struct {
        const char *address, *before, *change, *after;
        reach_flags flags;
    } rows[] = {
        { "0.0.0.0", "", GO_ONLINE, GO_OFFLINE, YES },
        { "203.0.113.9", "", GO_ONLINE, GO_OFFLINE, YES },
        { "203.0.113.9", "", "route add 203.0.113.0/24 dev wan0\n", "route del 203.0.113.0/24\n", NEAR },
        { "203.0.113.9", "", "address add 203.0.113.9/32 dev wan0\n", "address del 203.0.113.9/32 dev wan0\n", OWN },
        { "0.0.0.0", "", "route add default dev wwan0\n", GO_OFFLINE, WAN },
        { "0.0.0.0", GO_ONLINE "pull wan0\n", "plug wan0\n", GO_OFFLINE, YES },
        { "0.0.0.0", "route add unreachable default\n", "route replace default via 10.1.0.1\n", GO_OFFLINE, YES },
        { "0.0.0.0", "route add default via 10.1.0.1 table 100\n", "rule add lookup 100\n",
          "rule del lookup 100\nroute del default table 100\n", YES },
    };
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++) {
        reach_target *asked = target(rows[index].address);
        for (int time = 3; time < timeout_count; time++) {
            network(rows[index].before);
            struct asker asker = asker_at(&desk, "a");
            confirm(&asker, asked, timeouts[time], desk.queue);
            require_nothing(&desk);
            network(rows[index].change);
            expect_answer(&desk, "a", rows[index].flags);
            network(rows[index].after);
        }
        reach_release(asked);
    }
    desk_free(&desk);
}

static void offline_throughout(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    static const int short_timeouts[] = { 0, 1, 30, 100 };
    for (size_t index = 0; index < sizeof short_timeouts / sizeof *short_timeouts; index++) {
        struct asker asker = asker_at(&desk, "a");
        int64_t start = now_ms();
        uint64_t id = confirm(&asker, internet, short_timeouts[index], desk.queue);
        require(desk.manual == NULL || journal_pending(desk.journal) == 0);
        expect_answer(&desk, "a", NO);
        require_message(now_ms() - start >= short_timeouts[index], "the answer came before the deadline");
        require_refused(reach_confirm_cancel(id), false, ENOENT);
        /* That was the one answer. */
        network(GO_ONLINE);
        require_nothing(&desk);
        network(GO_OFFLINE);
        require_nothing(&desk);
    }
    reach_release(internet);
    desk_free(&desk);
}

/* What is true now is asked of the kernel now, whatever the queue has not read yet. */
static void asked_right_after_a_change(void *argument)
{
    static const struct {
        const char *lose, *have;
    } ways[] = {
        { "pull wan0\n", "plug wan0\n" },
        { "link set wan0 down\n", "link set wan0 up\nrunning wan0\n" GO_ONLINE },
        { GO_OFFLINE, GO_ONLINE },
        { "address del 10.1.0.2/24 dev wan0\n", "address add 10.1.0.2/24 dev wan0\n" GO_ONLINE },
    };
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        for (int time = 0; time < 5; time++) {
            for (int have = 0; have < 2; have++) {
                network(have ? ways[way].have : ways[way].lose);
                struct asker asker = asker_at(&desk, "a");
                confirm(&asker, internet, 0, desk.queue);
                if (desk.manual != NULL) {
                    require(reach_queue_dispatch(desk.queue, 0) >= 1);
                    require_int(journal_pending(desk.journal), 2);
                }
                expect_answer(&desk, "a", have ? YES : NO);
            }
        }
        require_nothing(&desk);
    }
    reach_release(internet);
    desk_free(&desk);
}

/* A path on which a connection is required first is not online, but its flags are what they are. */
static void connection_required(void *argument)
{
    network(OFFLINE_NETWORK "link set wan0 mode dormant\nlink set wan0 state dormant\nstopped wan0\n" GO_ONLINE);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, DORMANT);
    struct asker brief = asker_at(&desk, "brief"), patient = asker_at(&desk, "patient");
    confirm(&patient, internet, hour, desk.queue);
    confirm(&brief, internet, 20, desk.queue);
    expect_answer(&desk, "brief", DORMANT);
    require_nothing(&desk);
    network("link set wan0 mode default\nlink set wan0 state up\nrunning wan0\n");
    expect_answer(&desk, "patient", YES);
    reach_release(internet);
    desk_free(&desk);
}

/* ----------------------------------------------------------------------------------------------------- flapping --- */

static void flapping(void *argument)
{
    enum { times = 50 };
    network(ONLINE_NETWORK "route add unreachable 198.51.100.9\npull wan0\n");
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    reach_target *never = target("198.51.100.9");
    struct asker hopeless = asker_at(&desk, "hopeless"), first = asker_at(&desk, "first");
    uint64_t id = confirm(&hopeless, never, hour, desk.queue);
    confirm(&first, internet, hour, desk.queue);
    for (int time = 0; time < times; time++) {
        require_nothing(&desk);
        struct asker asker = asker_at(&desk, "a");
        if (time > 0) {
            confirm(&asker, internet, hour, desk.queue);
            require_nothing(&desk);
        }
        network("plug wan0\n");
        expect_answer(&desk, time == 0 ? "first" : "a", YES);
        network("pull wan0\n");
    }
    require(reach_confirm_cancel(id));
    expect(&desk, "hopeless: released");
    reach_release(never);
    reach_release(internet);
    desk_free(&desk);
}

struct flapper {
    atomic_bool stop;
    int times; /* 0 goes on until it is stopped */
};

static void *flap(void *argument)
{
    struct flapper *flapper = argument;
    for (int time = 0; !atomic_load(&flapper->stop) && (flapper->times == 0 || time < flapper->times); time++) {
        network(GO_ONLINE);
        network(GO_OFFLINE);
    }
    return NULL;
}

/* Nobody waits for anybody: asked at any time, with any deadline, there is one answer each. */
static void flapping_while_asked(void *argument)
{
    enum { count = 300 };
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct flapper flapper = { .times = 50 };
    pthread_t thread;
    require_int(pthread_create(&thread, NULL, flap, &flapper), 0);
    static struct asker askers[count];
    for (int index = 0; index < count; index++) {
        askers[index] = (struct asker){ .manual = desk.manual != NULL };
        confirm(&askers[index], internet, index % 40, desk.queue);
        if (desk.manual != NULL) {
            require(reach_queue_dispatch(desk.queue, 1) >= 0);
        } else {
            sched_yield();
        }
    }
    int64_t end = now_ms() + deadline_ms();
    for (int index = 0; index < count; index++) {
        while (atomic_load(&askers[index].releases) == 0) {
            require_message(now_ms() < end, "confirmation %d was not answered", index);
            if (desk.manual != NULL) {
                require(reach_queue_dispatch(desk.queue, 10) >= 0);
            } else {
                sched_yield();
            }
        }
        require_int(atomic_load(&askers[index].answers), 1);
    }
    require_int(pthread_join(thread, NULL), 0);
    reach_release(internet);
    desk_free(&desk);
}

/* --------------------------------------------------------------------------------------------------- cancelling --- */

static void cancelled_before(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    for (int time = 2; time < timeout_count; time++) {
        struct asker asker = asker_at(&desk, "a");
        uint64_t id = confirm(&asker, internet, timeouts[time], desk.queue);
        require(reach_confirm_cancel(id));
        expect(&desk, "a: released");
        require_refused(reach_confirm_cancel(id), false, ENOENT);
        network(GO_ONLINE);
        require_nothing(&desk);
        network(GO_OFFLINE);
        require_nothing(&desk);
    }
    if (desk.manual != NULL) {
        /* The answer is known already, but it was not given. */
        for (int online = 0; online < 2; online++) {
            struct asker asker = asker_at(&desk, "a");
            uint64_t id = confirm(&asker, internet, online ? hour : 0, desk.queue);
            if (online) {
                network(GO_ONLINE);
                wait_readable(reach_queue_fd(desk.queue));
            }
            require(reach_confirm_cancel(id));
            expect(&desk, "a: released");
            require_nothing(&desk);
        }
    }
    reach_release(internet);
    desk_free(&desk);
}

static void cancel_itself(struct asker *asker)
{
    require_refused(reach_confirm_cancel(asker->id), false, ENOENT);
}

static void cancelled_inside_itself(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct asker asker = asker_at(&desk, "a");
    asker.act = cancel_itself;
    asker.id = confirm(&asker, internet, hour, desk.queue);
    network(GO_ONLINE);
    expect(&desk, "a: online 0x2");
    expect(&desk, "a: leaves");
    expect(&desk, "a: released");
    cancel_itself(&asker);
    reach_release(internet);
    desk_free(&desk);
}

struct pair {
    struct asker asker;
    struct pair *partner;
};

static void cancel_the_other(struct asker *asker)
{
    struct pair *pair = (struct pair *)asker;
    require(reach_confirm_cancel(pair->partner->asker.id));
    require_refused(reach_confirm_cancel(pair->partner->asker.id), false, ENOENT);
}

/* Both are due with the same change, and whoever is first takes the other's turn away. */
static void other_cancelled_inside(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct pair one = { .asker = asker_at(&desk, "one") }, two = { .asker = asker_at(&desk, "two"), .partner = &one };
    one.partner = &two;
    one.asker.act = two.asker.act = cancel_the_other;
    one.asker.id = confirm(&one.asker, internet, hour, desk.queue);
    two.asker.id = confirm(&two.asker, internet, hour, desk.queue);
    network(GO_ONLINE);
    char line[64];
    journal_next(desk.journal, desk.manual, line, sizeof line);
    bool is_one = strncmp(line, "one", 3) == 0;
    const char *name = is_one ? "one" : "two";
    require_text(line, is_one ? "one: online 0x2" : "two: online 0x2");
    expect(&desk, "%s: released", is_one ? "two" : "one");
    expect(&desk, "%s: leaves", name);
    expect(&desk, "%s: released", name);
    require_nothing(&desk);
    reach_release(internet);
    desk_free(&desk);
}

struct held {
    struct asker asker;
    sem_t entered, leave;
};

static void wait_semaphore(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += deadline_ms() / 1000;
    while (sem_timedwait(semaphore, &until) != 0) {
        require_message(errno == EINTR, "something that must happen did not happen in time");
    }
}

static void hold(struct asker *asker)
{
    struct held *held = (struct held *)asker;
    sem_post(&held->entered);
    wait_semaphore(&held->leave);
}

static void *drive_one_callout(void *argument)
{
    reach_queue *queue = argument;
    int callouts;
    while ((callouts = reach_queue_dispatch(queue, deadline_ms())) == 0) {
    }
    require_message(callouts == 1, "%d callouts: %s", callouts, errno_name(errno));
    return NULL;
}

/* By another thread, which does not wait for it. */
static void cancelled_while_answering(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct held held = { .asker = asker_at(&desk, "a") };
    held.asker.act = hold;
    held.asker.moves = true;
    require_int(sem_init(&held.entered, 0, 0), 0);
    require_int(sem_init(&held.leave, 0, 0), 0);
    uint64_t id = confirm(&held.asker, internet, hour, desk.queue);
    pthread_t driver;
    if (desk.manual != NULL) {
        require_int(pthread_create(&driver, NULL, drive_one_callout, desk.queue), 0);
    }
    wait_semaphore(&held.entered);
    require_refused(reach_confirm_cancel(id), false, ENOENT);
    require_line(desk.journal, NULL, "a: online 0x2");
    require_silence(desk.journal);
    sem_post(&held.leave);
    require_line(desk.journal, NULL, "a: leaves");
    require_line(desk.journal, NULL, "a: released");
    if (desk.manual != NULL) {
        require_int(pthread_join(driver, NULL), 0);
    }
    require_refused(reach_confirm_cancel(id), false, ENOENT);
    reach_release(internet);
    desk_free(&desk);
}

/* Whoever comes first: cancelling says which it was. */
static void cancelled_in_a_race(void *argument)
{
    (void)argument;
    enum { times = 2000 };
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, &with_thread);
    reach_target *internet = target("0.0.0.0");
    int cancelled = 0;
    for (int time = 0; time < times; time++) {
        struct asker asker = { .manual = false };
        uint64_t id = confirm(&asker, internet, time % 3 - 1, desk.queue);
        for (int pause = 0; pause < time % 7; pause++) {
            sched_yield();
        }
        bool in_time = reach_confirm_cancel(id);
        int64_t end = now_ms() + deadline_ms();
        while (atomic_load(&asker.releases) == 0) {
            require_message(now_ms() < end, "info was not released");
            sched_yield();
        }
        require_int(atomic_load(&asker.answers), in_time ? 0 : 1);
        require(reach_queue_flush(desk.queue));
        cancelled += in_time;
    }
    require_message(cancelled < times, "no answer came in %d times", times);
    reach_release(internet);
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------------- many at once --- */

static int compare_ids(const void *left, const void *right)
{
    const uint64_t *one = left, *other = right;
    return (*one > *other) - (*one < *other);
}

static void many_on_one_target(void *argument)
{
    (void)argument;
    enum { count = 1000 };
    network(OFFLINE_NETWORK);
    struct desk desks[2];
    desk_create(&desks[0], &with_thread);
    desk_create(&desks[1], &by_hand);
    size_t threads = count_threads();
    size_t descriptors = count_descriptors();
    reach_target *internet = target("0.0.0.0");
    static struct asker askers[count];
    static uint64_t ids[count];
    for (int index = 0; index < count; index++) {
        askers[index] = (struct asker){ .manual = index % 2 != 0 };
        int timeout = index % 5 == 0 ? -1 : hour + index;
        ids[index] = confirm(&askers[index], internet, timeout, desks[index % 2].queue);
    }
    for (int index = 0; index < count; index += 3) {
        require(reach_confirm_cancel(ids[index]));
    }
    require_nothing(&desks[0]);
    require_nothing(&desks[1]);
    network(GO_ONLINE);
    int64_t end = now_ms() + deadline_ms();
    for (int index = 0; index < count; index++) {
        while (atomic_load(&askers[index].releases) == 0) {
            require_message(now_ms() < end, "confirmation %d was not answered", index);
            require(reach_queue_dispatch(desks[1].queue, 1) >= 0);
        }
        require_int(atomic_load(&askers[index].answers), index % 3 != 0);
        require_refused(reach_confirm_cancel(ids[index]), false, ENOENT);
    }
    qsort(ids, count, sizeof *ids, compare_ids);
    for (int index = 1; index < count; index++) {
        require(ids[index] != ids[index - 1]);
    }
    require_int(count_threads(), threads);
    require_int(count_descriptors(), descriptors);
    reach_release(internet);
    desk_free(&desks[0]);
    desk_free(&desks[1]);
}

/* They end when their own time is over, in whatever order they were begun. */
static void deadlines_in_order(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct asker hours = asker_at(&desk, "hours"), ever = asker_at(&desk, "ever"), longest = asker_at(&desk, "longest");
    struct asker slow = asker_at(&desk, "slow"), quick = asker_at(&desk, "quick"), middle = asker_at(&desk, "middle");
    uint64_t ever_id = confirm(&ever, internet, -1, desk.queue);
    uint64_t hours_id = confirm(&hours, internet, hour, desk.queue);
    confirm(&slow, internet, 900, desk.queue);
    confirm(&quick, internet, 100, desk.queue);
    confirm(&middle, internet, 500, desk.queue);
    uint64_t longest_id = confirm(&longest, internet, INT_MAX, desk.queue);
    expect_answer(&desk, "quick", NO);
    expect_answer(&desk, "middle", NO);
    expect_answer(&desk, "slow", NO);
    require_nothing(&desk);
    require(reach_confirm_cancel(longest_id));
    expect(&desk, "longest: released");
    require(reach_confirm_cancel(hours_id));
    expect(&desk, "hours: released");
    network(GO_ONLINE);
    expect_answer(&desk, "ever", YES);
    require_refused(reach_confirm_cancel(ever_id), false, ENOENT);
    reach_release(internet);
    desk_free(&desk);
}

static void refused_arguments(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    static const int bad[] = { -2, INT_MIN };
    for (int index = 0; index < 2; index++) {
        struct asker asker = asker_at(&desk, "a");
        require_refused(reach_confirm(internet, bad[index], desk.queue, answered, &asker, released), 0, EINVAL);
        expect(&desk, "a: released");
        reach_flags flags = 0x5678;
        require_refused(reach_wait(internet, bad[index], &flags), false, EINVAL);
        require_int(flags, 0x5678);
    }
    struct asker asker = asker_at(&desk, "a");
    require_refused(reach_confirm(NULL, hour, desk.queue, answered, &asker, released), 0, EINVAL);
    expect(&desk, "a: released");
    reach_release(internet);
    desk_free(&desk);
}

/* -------------------------------------------------------------------------------------------------------- lives --- */

/* Pending confirmations are what keeps the queue and the target. */
static void released_meanwhile(void *argument)
{
    (void)argument;
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, &by_hand);
    size_t threads = count_threads();
    size_t descriptors = count_descriptors();
    for (int way = 0; way < 4; way++) {
        struct journal *journal = journal_create();
        struct asker one = { .name = "one", .journal = journal }, two = { .name = "two", .journal = journal };
        reach_queue *queue = reach_queue_create("passing");
        reach_target *internet = target("0.0.0.0");
        uint64_t one_id = confirm(&one, internet, way == 1 ? 20 : hour, queue);
        uint64_t two_id = confirm(&two, internet, hour, queue);
        reach_release(internet);
        reach_queue_release(queue);
        if (way == 1) {
            require_line(journal, NULL, "one: offline 0x0");
            require_line(journal, NULL, "one: released");
        } else if (way == 2) {
            require(reach_confirm_cancel(one_id));
            require_line(journal, NULL, "one: released");
        }
        if (way == 3) {
            require(reach_confirm_cancel(two_id));
            require(reach_confirm_cancel(one_id));
            require_line(journal, NULL, "two: released");
            require_line(journal, NULL, "one: released");
        } else {
            network(GO_ONLINE);
            if (way == 0) {
                require_line(journal, NULL, "one: online 0x2");
                require_line(journal, NULL, "one: released");
            }
            require_line(journal, NULL, "two: online 0x2");
            require_line(journal, NULL, "two: released");
            network(GO_OFFLINE);
        }
        wait_threads(threads);
        require_int(count_descriptors(), descriptors);
        require_silence(journal);
        journal_free(journal);
    }
    /* By hand: the queue goes with the last one that is cancelled. */
    reach_queue *manual = reach_queue_create_manual();
    reach_target *internet = target("0.0.0.0");
    struct asker unheard = { .name = "unheard", .journal = desk.journal, .manual = true };
    uint64_t id = confirm(&unheard, internet, 0, manual);
    reach_release(internet);
    reach_queue_release(manual);
    require(count_descriptors() > descriptors);
    require(reach_confirm_cancel(id));
    expect(&desk, "unheard: released");
    require_int(count_descriptors(), descriptors);
    desk_free(&desk);
}

struct owner {
    struct asker asker;
    struct desk *desk;
    reach_queue *queue;
    struct asker next;
};

static void release_the_queue(struct asker *asker)
{
    reach_queue_release(((struct owner *)asker)->queue);
}

/* The last reference to the queue goes in the answer. */
static void queue_released_inside(void *argument)
{
    bool manual = *(int *)argument != 0;
    network(ONLINE_NETWORK);
    reach_is_online();
    size_t threads = count_threads();
    size_t descriptors = count_descriptors();
    struct journal *journal = journal_create();
    struct owner owner = {
        .asker = { .name = "a", .journal = journal, .manual = manual, .act = release_the_queue },
        .queue = manual ? reach_queue_create_manual() : reach_queue_create("passing"),
    };
    require(owner.queue != NULL);
    reach_target *internet = target("0.0.0.0");
    if (manual) {
        /* Whoever drives a queue keeps it while it is driven. */
        reach_queue *driven = reach_queue_retain(owner.queue);
        confirm(&owner.asker, internet, hour, owner.queue);
        require_int(reach_queue_dispatch(driven, 0), 1);
        reach_queue_release(driven);
    } else {
        confirm(&owner.asker, internet, hour, owner.queue);
    }
    require_line(journal, NULL, "a: online 0x2");
    require_line(journal, NULL, "a: leaves");
    require_line(journal, NULL, "a: released");
    reach_release(internet);
    wait_threads(threads);
    require_int(count_descriptors(), descriptors);
    require_silence(journal);
    journal_free(journal);
}

static void call_everything(struct asker *asker)
{
    struct owner *owner = (struct owner *)asker;
    require_flags(asker->target, YES);
    require_refused(reach_queue_flush(owner->queue), false, EDEADLK);
    reach_flags flags = 0x5678;
    require(reach_wait(asker->target, 0, &flags));
    require_int(flags, YES);
    require(reach_wait(asker->target, hour, NULL));
    reach_target *never = target("2001:db8:ffff::9");
    require_refused(reach_wait(never, 5, &flags), false, ETIMEDOUT);
    require_int(flags, NO);
    struct asker passing = { .manual = false };
    require(reach_confirm_cancel(confirm(&passing, never, hour, owner->queue)));
    require_int(atomic_load(&passing.releases), 1);
    require(reach_set_queue(asker->target, owner->queue));
    require(reach_set_queue(asker->target, NULL));
    reach_monitor *monitor = reach_monitor_create("203.0.113.9");
    require(monitor != NULL);
    reach_monitor_release(monitor);
    reach_release(never);
}

static void everything_is_allowed_inside(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct owner owner = { .asker = asker_at(&desk, "a"), .desk = &desk, .queue = desk.queue };
    owner.asker.act = call_everything;
    confirm(&owner.asker, internet, hour, desk.queue);
    reach_release(internet); /* it is alive during the call */
    network(GO_ONLINE);
    expect(&desk, "a: online 0x2");
    expect(&desk, "a: leaves");
    expect(&desk, "a: released");
    desk_free(&desk);
}

static void ask_again(struct asker *asker)
{
    struct owner *owner = (struct owner *)asker;
    owner->next = asker_at(owner->desk, "next");
    owner->next.moves = true;
    confirm(&owner->next, asker->target, hour, owner->queue);
}

/* Asked again from inside an answer, the next answer is not given inside. */
static void asked_again_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct owner owner = { .asker = asker_at(&desk, "a"), .desk = &desk, .queue = desk.queue };
    owner.asker.act = ask_again;
    confirm(&owner.asker, internet, hour, desk.queue);
    expect(&desk, "a: online 0x2");
    expect(&desk, "a: leaves");
    /* The first info is let go by whoever is last to use it: this thread, if the queue's answered before reach_confirm
     * returned. */
    static const char *const next[] = { "next: online 0x2", "next: released" };
    size_t answered = 0;
    bool released = false;
    for (int index = 0; index < 3; index++) {
        char line[64];
        journal_next(desk.journal, desk.manual, line, sizeof line);
        if (strcmp(line, "a: released") == 0) {
            require(!released);
            released = true;
        } else {
            require(answered < 2);
            require_text(line, next[answered++]);
        }
    }
    require(released && answered == 2);
    reach_release(internet);
    desk_free(&desk);
}

static const struct {
    const char *lose, *have;
} ways_to_lose[] = {
    { GO_OFFLINE, GO_ONLINE },
    { "pull wan0\n", "plug wan0\n" },
};

static size_t way_to_lose;

static void lose_the_way(struct asker *asker)
{
    (void)asker;
    network(ways_to_lose[way_to_lose].lose);
}

/* While an answer is in line, the one before it is given, and in there the network goes: then it is not yet time. */
static void lost_while_in_line(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    for (way_to_lose = 0; way_to_lose < sizeof ways_to_lose / sizeof *ways_to_lose; way_to_lose++) {
        struct asker first = asker_at(&desk, "first"), next = asker_at(&desk, "next");
        first.act = lose_the_way;
        confirm(&first, internet, hour, desk.queue);
        confirm(&next, internet, hour, desk.queue);
        expect(&desk, "first: online 0x2");
        expect(&desk, "first: leaves");
        expect(&desk, "first: released");
        require_nothing(&desk);
        network(ways_to_lose[way_to_lose].have);
        expect_answer(&desk, "next", YES);
    }
    reach_release(internet);
    desk_free(&desk);
}

/* The target is scheduled as well, on the same queue and on another: each goes its own way. */
static void beside_change_callbacks(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_queue *other = reach_queue_create("other");
    struct recorder *recorder = recorder_create();
    reach_target *internet = target("0.0.0.0");
    require(reach_set_callback(internet, record_event, recorder, NULL));
    for (int time = 0; time < 2; time++) {
        require(reach_set_queue(internet, time == 0 ? desk.queue : other));
        reach_queue *driven = time == 0 ? desk.manual : NULL;
        struct asker asker = asker_at(&desk, "a"), brief = asker_at(&desk, "brief");
        confirm(&asker, internet, hour, desk.queue);
        confirm(&brief, internet, 0, desk.queue);
        expect_answer(&desk, "brief", NO);
        network(GO_ONLINE);
        expect_answer(&desk, "a", YES);
        require_event(recorder, driven, internet, YES);
        network(GO_OFFLINE);
        require_event(recorder, driven, internet, NO);
        require_nothing(&desk);
        require_int(recorder_pending(recorder), 0);
        /* Unscheduling is nothing to it. */
        struct asker after = asker_at(&desk, "after");
        confirm(&after, internet, hour, desk.queue);
        require(reach_set_queue(internet, NULL));
        network(GO_ONLINE);
        expect_answer(&desk, "after", YES);
        network(GO_OFFLINE);
        require_nothing(&desk);
        require_int(recorder_pending(recorder), 0);
    }
    require(reach_queue_flush(other));
    reach_queue_release(other);
    reach_release(internet);
    recorder_free(recorder);
    desk_free(&desk);
}

/* -------------------------------------------------------------------------------------------------------- names --- */

/* Being looked up is part of being online, however good the path is. */
static void names(void *argument)
{
    network(ONLINE_NETWORK "route add unreachable 198.51.100.9\n");
    etc_own();
    dns_start(1, "--host-record=far.test,203.0.113.9", "--host-record=near.test,10.1.0.9",
              "--host-record=dead.test,198.51.100.9", NULL);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *far = target_name("far.test"), *near = target_name("near.test"), *dead = target_name("dead.test");
    reach_target *missing = target_name("nosuch.test");
    reach_target *const all[] = { far, near, dead, missing };
    static const char *const known[] = { "now: online 0x2", "now: online 0x20002", "", "" };
    reach_flags flags = 0x5678;
    for (int index = 0; index < 4; index++) {
        /* What is true now is that it is not known, unless the look-up was as quick as that. */
        struct asker now = asker_at(&desk, "now");
        confirm(&now, all[index], 0, desk.queue);
        char line[64];
        journal_next(desk.journal, desk.manual, line, sizeof line);
        require_message(strcmp(line, "now: offline 0x0") == 0 || strcmp(line, known[index]) == 0, "\"%s\" came", line);
        expect(&desk, "now: released");
        errno = 0;
        bool online = reach_wait(all[index], 0, &flags);
        require(online ? index < 2 && reach_flags_is_online(flags) : errno == ETIMEDOUT && flags == NO);
    }
    struct asker one = asker_at(&desk, "one"), two = asker_at(&desk, "two");
    confirm(&one, far, hour, desk.queue);
    expect_answer(&desk, "one", YES);
    confirm(&two, near, -1, desk.queue);
    expect_answer(&desk, "two", NEAR);
    require(reach_wait(far, hour, &flags));
    require_int(flags, YES);
    require(reach_wait(near, -1, &flags));
    require_int(flags, NEAR);

    struct asker dead_asker = asker_at(&desk, "dead"), missing_asker = asker_at(&desk, "missing");
    confirm(&dead_asker, dead, 300, desk.queue);
    expect_answer(&desk, "dead", NO);
    confirm(&missing_asker, missing, 300, desk.queue);
    expect_answer(&desk, "missing", NO);
    require_refused(reach_wait(dead, 100, &flags), false, ETIMEDOUT);
    require_refused(reach_wait(missing, 100, &flags), false, ETIMEDOUT);

    /* It comes to be reachable while it is waited for: by a route, and by a record. */
    struct asker later = asker_at(&desk, "later"), record = asker_at(&desk, "record");
    confirm(&later, dead, hour, desk.queue);
    confirm(&record, missing, hour, desk.queue);
    require_nothing(&desk);
    network("route del unreachable 198.51.100.9\n");
    expect_answer(&desk, "later", YES);
    require_nothing(&desk);
    etc_replace("hosts", "10.1.0.2 nosuch.test\n");
    expect_answer(&desk, "record", OWN);
    for (int index = 0; index < 4; index++) {
        reach_release(all[index]);
    }
    desk_free(&desk);
}

/* A path, but nobody who knows the name: offline at the deadline; without a path too. */
static void names_without_an_answer(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    etc_replace("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n");
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *name = target_name("name.test");
    struct asker brief = asker_at(&desk, "brief"), patient = asker_at(&desk, "patient");
    confirm(&patient, name, hour, desk.queue);
    dns_fake_wait(server, "name.test", 1);
    confirm(&brief, name, 100, desk.queue);
    expect_answer(&desk, "brief", NO);
    reach_flags flags = 0x5678;
    require_refused(reach_wait(name, 100, &flags), false, ETIMEDOUT);
    require_int(flags, NO);
    require_flags(name, YES); /* which is what a name that was not looked up says to those who do not wait */
    network(GO_OFFLINE);
    struct asker lost = asker_at(&desk, "lost");
    confirm(&lost, name, 50, desk.queue);
    expect_answer(&desk, "lost", NO);
    require_nothing(&desk);
    etc_replace("hosts", "203.0.113.9 name.test\n");
    require_nothing(&desk);
    network(GO_ONLINE);
    expect_answer(&desk, "patient", YES);
    reach_release(name);
    desk_free(&desk);
}

/* ----------------------------------------------------------------------------------------------- blocking waits --- */

static void wait_online_at_once(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    static const struct {
        const char *address;
        reach_flags flags;
    } rows[] = {
        { "0.0.0.0", YES }, { "203.0.113.9", YES }, { "10.1.0.9", NEAR }, { "10.1.0.2", OWN }, { "127.0.0.1", OWN },
    };
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++) {
        reach_target *asked = target(rows[index].address);
        for (int time = 0; time < timeout_count; time++) {
            reach_flags flags = 0x5678;
            require(reach_wait(asked, timeouts[time], &flags));
            require_int(flags, rows[index].flags);
            require(reach_wait(asked, timeouts[time], NULL));
        }
        reach_release(asked);
    }
    reach_target *name = target_name("localhost");
    require(reach_wait(name, 0, NULL));
    reach_release(name);
    require_int(count_threads(), 1);
}

/* A thread that waits, and one that changes the network once somebody does. */
struct waiter {
    pthread_t thread;
    reach_target *target;
    int timeout;
    bool result;
    int error;
    reach_flags flags;
};

static void *wait_for_target(void *argument)
{
    struct waiter *waiter = argument;
    waiter->flags = 0x5678;
    errno = 0;
    waiter->result = reach_wait(waiter->target, waiter->timeout, &waiter->flags);
    waiter->error = errno;
    return NULL;
}

/* Whoever waits has descriptors for it. */
static void wait_for_waiters(size_t descriptors_before, size_t count)
{
    int64_t end = now_ms() + deadline_ms();
    while (count_descriptors() < descriptors_before + 3 * count) {
        require_message(now_ms() < end, "nobody waits");
        sched_yield();
    }
}

static void wait_until_the_change(void *argument)
{
    (void)argument;
    enum { most = 16 };
    network(OFFLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, NO);
    struct waiter waiters[most];
    for (int count = 1; count <= most; count *= 4) {
        size_t descriptors = count_descriptors();
        size_t threads = count_threads();
        for (int index = 0; index < count; index++) {
            waiters[index] = (struct waiter){ .target = internet, .timeout = timeouts[3 + index % 3] };
            require_int(pthread_create(&waiters[index].thread, NULL, wait_for_target, &waiters[index]), 0);
        }
        wait_for_waiters(descriptors, (size_t)count);
        network(GO_ONLINE);
        for (int index = 0; index < count; index++) {
            require_int(pthread_join(waiters[index].thread, NULL), 0);
            require_message(waiters[index].result, "%s", errno_name(waiters[index].error));
            require_int(waiters[index].flags, YES);
        }
        network(GO_OFFLINE);
        wait_threads(threads);
        require_int(count_descriptors(), descriptors);
    }
    reach_release(internet);
}

static void wait_until_the_deadline(void *argument)
{
    (void)argument;
    network(OFFLINE_NETWORK);
    etc_own();
    reach_target *internet = target("0.0.0.0");
    reach_target *name = target_name("name.test");
    require_flags(internet, NO);
    size_t descriptors = count_descriptors();
    static const int short_timeouts[] = { 0, 1, 50 };
    for (int index = 0; index < 3; index++) {
        for (int time = 0; time < 20; time++) {
            reach_flags flags = 0x5678;
            int64_t start = now_ms();
            reach_target *asked = time % 2 == 0 ? internet : name;
            require_refused(reach_wait(asked, short_timeouts[index], &flags), false, ETIMEDOUT);
            require(now_ms() - start >= short_timeouts[index]);
            require_int(flags, NO);
            require_refused(reach_wait(internet, 0, NULL), false, ETIMEDOUT);
        }
    }
    require_int(count_descriptors(), descriptors);
    require_int(count_threads(), 1);
    reach_release(name);
    reach_release(internet);
}

/* Without the descriptors it is an error, not an answer, and none of those that could be had is left open. */
static void wait_without_descriptors(void *argument)
{
    (void)argument;
    network(OFFLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, NO);
    int next = dup(STDIN_FILENO);
    require(next >= 0);
    close(next);
    size_t descriptors = count_descriptors();
    int error = 0;
    for (int room = 0; error != ETIMEDOUT; room++) {
        require_message(room < 16, "waiting needs more than 16 descriptors");
        for (int time = 0; time < 20; time++) {
            reach_flags flags = 0x5678;
            rlim_t before = limit_descriptors((rlim_t)(next + room));
            errno = 0;
            bool online = reach_wait(internet, 1, &flags);
            error = errno;
            limit_descriptors(before);
            require(!online);
            require_message(error == EMFILE || error == ETIMEDOUT, "%s", errno_name(error));
            require_int(flags, error == EMFILE ? 0x5678 : NO);
            require_int(count_descriptors(), descriptors);
        }
    }
    reach_release(internet);
}

/* Changes the network once somebody waits. */
struct changer {
    pthread_t thread;
    size_t descriptors;
    sem_t begin;
    const char *script;
};

static void *change(void *argument)
{
    struct changer *changer = argument;
    wait_semaphore(&changer->begin);
    wait_for_waiters(changer->descriptors, 1);
    network(changer->script);
    return NULL;
}

/* The callbacks of every kind, which wait for what the changer brings about. */
struct patient {
    struct changer changer;
    struct asker asker;
    reach_target *awaited;
    atomic_int waits;
};

static void wait_inside(struct patient *patient)
{
    patient->changer.descriptors = count_descriptors();
    require_int(pthread_create(&patient->changer.thread, NULL, change, &patient->changer), 0);
    sem_post(&patient->changer.begin);
    reach_flags flags = 0x5678;
    require(reach_wait(patient->awaited, hour, &flags));
    require_int(flags, YES);
    require_int(pthread_join(patient->changer.thread, NULL), 0);
    atomic_fetch_add(&patient->waits, 1);
}

static void change_waits(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    wait_inside(info);
}

static void answer_waits(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)online;
    change_waits(target, flags, info);
}

static void observer_waits(reach_monitor *monitor, reach_status status, reach_status previous, const char *host,
                           void *info)
{
    (void)monitor;
    (void)status;
    (void)previous;
    (void)host;
    change_waits(NULL, 0, info);
}

static void wait_inside_callbacks(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *first = target("203.0.113.9");
    reach_target *awaited = target("198.51.100.9");
    reach_monitor *monitor = reach_monitor_create("203.0.113.9");
    require(monitor != NULL);
    for (int kind = 0; kind < 3; kind++) {
        struct patient patient = { .awaited = awaited, .changer.script = "route add 198.51.100.9 via 10.1.0.1\n" };
        require_int(sem_init(&patient.changer.begin, 0, 0), 0);
        uint64_t observer = 0;
        if (kind == 0) {
            require(reach_set_callback(first, change_waits, &patient, NULL));
            require(reach_set_queue(first, desk.queue));
        } else if (kind == 1) {
            require(reach_confirm(first, hour, desk.queue, answer_waits, &patient, NULL) != 0);
        } else {
            int64_t end = now_ms() + deadline_ms();
            while (reach_monitor_get_status(monitor) != REACH_STATUS_NOT_REACHABLE) {
                require(now_ms() < end);
                sched_yield();
            }
            observer = reach_monitor_add_observer(monitor, desk.queue, observer_waits, &patient, NULL);
            require(observer != 0);
        }
        network("route add 203.0.113.9 via 10.1.0.1\n");
        int64_t end = now_ms() + deadline_ms();
        while (atomic_load(&patient.waits) == 0) {
            require_message(now_ms() < end, "nothing was called");
            if (desk.manual != NULL) {
                require(reach_queue_dispatch(desk.queue, 10) >= 0);
            } else {
                sched_yield();
            }
        }
        if (kind == 0) {
            require(reach_set_queue(first, NULL));
        } else if (kind == 2) {
            require(reach_monitor_remove_observer(observer));
        }
        require(reach_queue_flush(desk.queue));
        require_int(atomic_load(&patient.waits), 1);
        network("route del 203.0.113.9\nroute del 198.51.100.9\n");
    }
    reach_monitor_release(monitor);
    reach_release(first);
    reach_release(awaited);
    desk_free(&desk);
}

static atomic_int signals_taken;

static void take_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals_taken, 1);
}

/* Signals end no wait: not before the change, and not before the deadline. */
static void wait_under_signals(void *argument)
{
    (void)argument;
    network(OFFLINE_NETWORK);
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    struct sigaction action = { .sa_handler = take_signal }; /* without SA_RESTART */
    require_int(sigaction(SIGUSR1, &action, NULL), 0);
    reach_target *targets[] = { target("0.0.0.0"), target_name("known.test") };
    require_flags(targets[0], NO);
    for (int index = 0; index < 2; index++) {
        struct waiter waiter = { .target = targets[index], .timeout = hour };
        size_t descriptors = count_descriptors();
        require_int(pthread_create(&waiter.thread, NULL, wait_for_target, &waiter), 0);
        struct nuisance nuisance;
        nuisance_begin(&nuisance, waiter.thread);
        wait_for_waiters(descriptors, 1);
        int before = atomic_load(&signals_taken);
        while (atomic_load(&signals_taken) < before + 100) {
            sched_yield();
        }
        nuisance_end(&nuisance);
        network(GO_ONLINE);
        require_int(pthread_join(waiter.thread, NULL), 0);
        require_message(waiter.result, "%s", errno_name(waiter.error));
        require_int(waiter.flags, YES);
        network(GO_OFFLINE);

        nuisance_begin(&nuisance, pthread_self());
        int64_t start = now_ms();
        reach_flags flags = 0x5678;
        require_refused(reach_wait(targets[index], 100, &flags), false, ETIMEDOUT);
        require_message(now_ms() - start >= 100, "a signal ended the wait");
        require_int(flags, NO);
        nuisance_end(&nuisance);
        reach_release(targets[index]);
    }
}

/* Others may change the target while it is waited for; it is alive until the wait is over. */
static void wait_beside_everything(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct recorder *recorder = recorder_create();
    require(reach_set_callback(internet, record_event, recorder, NULL));
    require(reach_set_queue(internet, desk.queue));
    size_t descriptors = count_descriptors();
    struct waiter waiter = { .target = internet, .timeout = -1 };
    require_int(pthread_create(&waiter.thread, NULL, wait_for_target, &waiter), 0);
    wait_for_waiters(descriptors, 1);
    struct asker asker = asker_at(&desk, "a"), brief = asker_at(&desk, "brief");
    confirm(&asker, internet, hour, desk.queue);
    confirm(&brief, internet, 10, desk.queue);
    expect_answer(&desk, "brief", NO);
    require(reach_set_callback(internet, NULL, NULL, NULL));
    require(reach_set_queue(internet, NULL));
    network(GO_ONLINE);
    expect_answer(&desk, "a", YES);
    require_int(pthread_join(waiter.thread, NULL), 0);
    require(waiter.result);
    require_int(recorder_count(recorder), 0);
    recorder_free(recorder);
    reach_release(internet);
    desk_free(&desk);
}

/* -------------------------------------------------------------------------------------------------------- forks --- */

static void require_child(pid_t child)
{
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_message(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed, with wait status 0x%x", status);
}

static void in_the_child(reach_target *internet, reach_queue *parents_queue, uint64_t id)
{
    alarm((unsigned)deadline_ms() / 1000);
    require_refused(reach_confirm_cancel(id), false, ENOENT);
    struct journal *journal = journal_create();
    struct asker refused = { .name = "refused", .journal = journal };
    require_refused(reach_confirm(internet, 0, parents_queue, answered, &refused, released), 0, ESTALE);
    require_line(journal, NULL, "refused: released");
    reach_flags flags = 0x5678;
    require_refused(reach_wait(internet, 10, &flags), false, ETIMEDOUT);
    require_int(flags, NO);
    reach_queue *queue = reach_queue_create("child");
    require_message(queue != NULL, "%s", errno_name(errno));
    struct asker own = { .name = "own", .journal = journal }, gone = { .name = "gone", .journal = journal };
    confirm(&own, internet, hour, queue);
    require(reach_confirm_cancel(confirm(&gone, internet, hour, queue)));
    require_line(journal, NULL, "gone: released");
    require_silence(journal);
    network(GO_ONLINE);
    require_line(journal, NULL, "own: online 0x2");
    require_line(journal, NULL, "own: released");
    require(reach_wait(internet, hour, &flags));
    require(reach_queue_flush(queue));
    reach_queue_release(queue);
    journal_free(journal);
}

static void forked(void *argument)
{
    network(OFFLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_target *internet = target("0.0.0.0");
    struct asker asker = asker_at(&desk, "a");
    uint64_t id = confirm(&asker, internet, hour, desk.queue);
    require_nothing(&desk);
    fflush(NULL);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        in_the_child(internet, desk.queue, id);
        _exit(0);
    }
    require_child(child);
    expect_answer(&desk, "a", YES);
    reach_release(internet);
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------------- many threads --- */

struct confirmations {
    reach_target *targets[3];
    atomic_int begun, answered, cancelled, released;
};

static void count_answer(reach_target *target, bool online, reach_flags flags, void *info)
{
    struct confirmations *confirmations = info;
    require(target != NULL && online == reach_flags_is_online(flags));
    atomic_fetch_add(&confirmations->answered, 1);
}

static void count_release(void *info)
{
    struct confirmations *confirmations = info;
    atomic_fetch_add(&confirmations->released, 1);
}

static void *hammer(void *argument)
{
    struct anvil *anvil = argument;
    struct confirmations *confirmations = anvil->info;
    unsigned state = (unsigned)(uintptr_t)&state;
    enum { own = 16 };
    uint64_t ids[own] = { 0 };
    while (!atomic_load(&anvil->stop)) {
        unsigned random = next_random(&state);
        reach_target *struck = confirmations->targets[(random >> 10) % 3];
        uint64_t *id = &ids[random >> 20 & (own - 1)];
        reach_flags flags = 0x5678;
        switch (random >> 24 & 7) {
        case 0:
        case 1:
        case 2:
        case 3: {
            if (*id != 0 && reach_confirm_cancel(*id)) {
                atomic_fetch_add(&confirmations->cancelled, 1);
            }
            static const int choice[] = { 0, 1, 5, hour };
            atomic_fetch_add(&confirmations->begun, 1);
            *id = reach_confirm(struck, choice[random >> 16 & 3], anvil->queues[random >> 12 & 1], count_answer,
                                confirmations, count_release);
            require_message(*id != 0, "%s", errno_name(errno));
            break;
        }
        case 4: {
            reach_target *passing = target("203.0.113.9");
            atomic_fetch_add(&confirmations->begun, 1);
            uint64_t passing_id =
                reach_confirm(passing, hour, anvil->queues[0], count_answer, confirmations, count_release);
            reach_release(passing);
            atomic_fetch_add(&confirmations->cancelled, reach_confirm_cancel(passing_id));
            break;
        }
        case 5: {
            errno = 0;
            bool online = reach_wait(struck, 1, &flags);
            require_message(online ? reach_flags_is_online(flags) : errno == ETIMEDOUT, "%s", errno_name(errno));
            break;
        }
        case 6:
            require(reach_queue_flush(anvil->queues[random >> 12 & 1]));
            break;
        default:
            require(reach_get_flags(struck, &flags));
        }
    }
    for (int index = 0; index < own; index++) {
        if (ids[index] != 0) {
            atomic_fetch_add(&confirmations->cancelled, reach_confirm_cancel(ids[index]));
        }
    }
    return NULL;
}

static void hammered_by_many_threads(void *argument)
{
    (void)argument;
    network(OFFLINE_NETWORK);
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    static struct confirmations confirmations;
    confirmations.targets[0] = target("0.0.0.0");
    confirmations.targets[1] = target("203.0.113.9");
    confirmations.targets[2] = target_name("known.test");
    struct anvil anvil = { .info = &confirmations };
    anvil_strike(&anvil, 6, hammer, GO_ONLINE, GO_OFFLINE);
    for (int index = 0; index < 3; index++) {
        reach_release(confirmations.targets[index]);
    }
    /* Those that were neither cancelled nor had their turn have it now. */
    anvil_release(&anvil);
    wait_threads(1);
    require_int(atomic_load(&confirmations.released), atomic_load(&confirmations.begun));
    require_int(atomic_load(&confirmations.answered) + atomic_load(&confirmations.cancelled),
                atomic_load(&confirmations.begun));
    require(atomic_load(&confirmations.answered) > 0 && atomic_load(&confirmations.cancelled) > 0);
}

int main(void)
{
#define BOTH(f) \
    namespace_test_with(#f ", thread queue", f, &with_thread), namespace_test_with(#f ", manual queue", f, &by_hand)
    const struct CMUnitTest tests[] = {
        BOTH(online_at_once),
        BOTH(offline_then_online),
        BOTH(offline_throughout),
        BOTH(asked_right_after_a_change),
        BOTH(connection_required),
        BOTH(flapping),
        BOTH(flapping_while_asked),
        BOTH(cancelled_before),
        BOTH(cancelled_inside_itself),
        BOTH(other_cancelled_inside),
        BOTH(cancelled_while_answering),
        namespace_test(cancelled_in_a_race),
        namespace_test(many_on_one_target),
        BOTH(deadlines_in_order),
        BOTH(refused_arguments),
        namespace_test(released_meanwhile),
        BOTH(queue_released_inside),
        BOTH(everything_is_allowed_inside),
        BOTH(asked_again_inside),
        BOTH(lost_while_in_line),
        BOTH(beside_change_callbacks),
        BOTH(names),
        BOTH(names_without_an_answer),
        namespace_test(wait_online_at_once),
        namespace_test(wait_until_the_change),
        namespace_test(wait_until_the_deadline),
        namespace_test(wait_without_descriptors),
        BOTH(wait_inside_callbacks),
        namespace_test(wait_under_signals),
        BOTH(wait_beside_everything),
        BOTH(forked),
        namespace_test(hammered_by_many_threads),
    };
    return cmocka_run_group_tests_name("confirm", tests, NULL, NULL);
}
