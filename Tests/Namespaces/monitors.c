/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Monitors: every change of a status is told once, in order, with the status before, on the queue that was asked for,
 * and to those who observe at that time. What is about a host that was changed, or of a monitor that has ended, is told
 * no more.
 */
#include "dns.h"
#include "journal.h"
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONLINE_NETWORK "link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n"
#define GO_OFFLINE "route del default\n"
#define GO_ONLINE "route add default via 10.1.0.1\n"

enum {
    unknown = REACH_STATUS_UNKNOWN,
    none = REACH_STATUS_NOT_REACHABLE,
    wwan = REACH_STATUS_VIA_WWAN,
    wifi = REACH_STATUS_VIA_WIFI,
};

static const char *word(reach_status status)
{
    static const char *const words[] = { "unknown", "none", "wwan", "wifi" };
    require_message(status >= unknown && status <= wifi, "status %d", status);
    return words[status + 1];
}

/* --------------------------------------------------------------------------------------------------- observers --- */

/* The info of an observer: where it writes what it hears, as "NAME: STATUS after PREVIOUS, HOST". */
struct voice {
    const char *name;
    struct journal *journal;
    pthread_t thread; /* the one that it must be called on, when that is known */
    bool has_thread;
    reach_monitor *monitor; /* the only one that it may hear of; NULL for any */
    void (*act)(struct voice *voice, reach_monitor *monitor);
    atomic_int inside;
};

#define FENCE_HOST "198.18.255.253"

static void heard(reach_monitor *monitor, reach_status status, reach_status previous, const char *host, void *info)
{
    struct voice *voice = info;
    require_message(status != previous, "%s heard of a change from %s to itself", voice->name, word(status));
    require(status != unknown);
    require(!voice->has_thread || pthread_equal(voice->thread, pthread_self()));
    require(voice->monitor == NULL || voice->monitor == monitor);
    if (voice->monitor == NULL && strcmp(host, FENCE_HOST) == 0) {
        return;
    }
    require_message(atomic_fetch_add(&voice->inside, 1) == 0, "%s was called while it was called", voice->name);
    journal_write(voice->journal, "%s: %s after %s, %s", voice->name, word(status), word(previous), host);
    if (voice->act != NULL) {
        voice->act(voice, monitor);
        journal_write(voice->journal, "%s: leaves", voice->name);
    }
    atomic_fetch_sub(&voice->inside, 1);
}

static void released(void *info)
{
    struct voice *voice = info;
    require_message(atomic_load(&voice->inside) == 0, "the info of %s was released while it was used", voice->name);
    /* No lock of the library is held here, so that everything may be called. */
    reach_is_online();
    journal_write(voice->journal, "%s: released", voice->name);
    errno = 0;
}

static uint64_t observe(struct voice *voice, reach_monitor *monitor, reach_queue *queue)
{
    voice->monitor = monitor;
    uint64_t id = reach_monitor_add_observer(monitor, queue, heard, voice, released);
    require_message(id != 0, "reach_monitor_add_observer: %s", errno_name(errno));
    return id;
}

static reach_monitor *monitor_of(const char *host)
{
    reach_monitor *monitor = reach_monitor_create(host);
    require_message(monitor != NULL, "reach_monitor_create %s: %s", host, errno_name(errno));
    return monitor;
}

#define require_status(monitor, expected) \
    do { \
        reach_status status_ = reach_monitor_get_status(monitor); \
        require_message(status_ == (expected), "the status is %s, not %s", word(status_), word(expected)); \
        require(reach_monitor_is_reachable(monitor) == (status_ != none)); \
    } while (0)

#define require_host(monitor, expected) \
    do { \
        char host_[256]; \
        require_int(reach_monitor_get_host(monitor, host_, sizeof host_), strlen(expected)); \
        require_text(host_, expected); \
    } while (0)

/* ------------------------------------------------------------------------------------------------------- desks --- */

/*
 * A proof that nothing more is to come: a monitor whose status is made to change twice. When the first change was
 * heard, the thread of the monitors has read of everything before; when the second was, it has told of it, and so has
 * the queue.
 */
struct fence {
    reach_monitor *monitor;
    reach_queue *manual;
    uint64_t observer;
    struct voice voice;
};

static void fence_wait(struct fence *fence, const char *status)
{
    char line[128];
    do {
        journal_next(fence->voice.journal, fence->manual, line, sizeof line);
    } while (strncmp(line + strlen("fence: "), status, 4) != 0);
}

static void fence_pass(struct fence *fence)
{
    ip("route add local " FENCE_HOST "/32 dev lo table local\n");
    fence_wait(fence, "wifi");
    ip("route del local " FENCE_HOST "/32 dev lo table local\n");
    fence_wait(fence, "none");
}

/* A queue of either kind, what its observers write, and a fence. The network must be there already. */
struct desk {
    reach_queue *queue;
    reach_queue *manual; /* the same, or NULL when it has a thread */
    struct journal *journal;
    struct fence fence;
};

/* The argument of a scenario says which kind. */
static int with_thread = 0;
static int by_hand = 1;

static void desk_create(struct desk *desk, const void *kind)
{
    bool manual = *(const int *)kind != 0;
    memset(desk, 0, sizeof *desk);
    desk->queue = manual ? reach_queue_create_manual() : reach_queue_create("desk");
    require_message(desk->queue != NULL, "%s", errno_name(errno));
    desk->manual = manual ? desk->queue : NULL;
    desk->journal = journal_create();
    reach_is_online(); /* opens the sockets for questions, so that they are not counted with what comes later */
    ip("route add unreachable " FENCE_HOST "/32\n");
    desk->fence.monitor = monitor_of(FENCE_HOST);
    desk->fence.manual = desk->manual;
    desk->fence.voice = (struct voice){ .name = "fence", .journal = journal_create() };
    desk->fence.observer = observe(&desk->fence.voice, desk->fence.monitor, desk->queue);
    fence_pass(&desk->fence);
}

/* An observer that writes into the journal of a desk. */
static struct voice voice_at(struct desk *desk, const char *name)
{
    return (struct voice){
        .name = name, .journal = desk->journal, .thread = pthread_self(), .has_thread = desk->manual != NULL
    };
}

/* Everything that happened has been told by now, and nothing of it is left untold. */
static void require_nothing(struct desk *desk)
{
    fence_pass(&desk->fence);
    require_silence(desk->journal);
}

static void desk_free(struct desk *desk)
{
    require_nothing(desk);
    require(reach_monitor_remove_observer(desk->fence.observer));
    require(reach_queue_flush(desk->queue));
    require_line(desk->fence.voice.journal, NULL, "fence: released");
    reach_monitor_release(desk->fence.monitor);
    reach_queue_release(desk->queue);
    journal_free(desk->fence.voice.journal);
    journal_free(desk->journal);
}

#define expect(desk, ...) require_line((desk)->journal, (desk)->manual, __VA_ARGS__)

/* ------------------------------------------------------------------------------------------- the first status --- */

static void first_status(struct desk *desk, reach_status expected)
{
    struct voice all = voice_at(desk, "all");
    uint64_t id = observe(&all, NULL, desk->queue);
    static const char *const hosts[] = { "0.0.0.0", "203.0.113.9", "::", "known.test" };
    for (size_t index = 0; index < sizeof hosts / sizeof *hosts; index++) {
        reach_monitor *monitor = monitor_of(hosts[index]);
        require_host(monitor, hosts[index]);
        expect(desk, "all: %s after unknown, %s", word(expected), hosts[index]);
        require_status(monitor, expected);
        /* Who comes later hears of changes only. */
        struct voice late = voice_at(desk, "late");
        uint64_t late_id = observe(&late, monitor, desk->queue);
        require_nothing(desk);
        require(reach_monitor_remove_observer(late_id));
        expect(desk, "late: released");
        reach_monitor_release(monitor);
        require_nothing(desk);
    }
    require(reach_monitor_remove_observer(id));
    expect(desk, "all: released");
}

static void first_status_online(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    struct desk desk;
    desk_create(&desk, argument);
    first_status(&desk, wifi);
    desk_free(&desk);
}

static void first_status_offline(void *argument)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    struct desk desk;
    desk_create(&desk, argument);
    first_status(&desk, none);
    desk_free(&desk);
}

static void first_status_cellular(void *argument)
{
    network("link set lo up\ntun wwan0 519\nlink set wwan0 up\nroute add default dev wwan0\n"
            "address add 10.2.0.2/32 dev wwan0\n");
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    struct desk desk;
    desk_create(&desk, argument);
    first_status(&desk, wwan);
    desk_free(&desk);
}

/* The first status is what is true when the monitor is made, whatever its thread has not read yet. */
static void first_status_right_after_a_change(void *argument)
{
    static const struct {
        const char *script;
        reach_status status;
    } changes[] = {
        { "pull wan0\n", none },
        { "plug wan0\n", wifi },
        { "link set wan0 down\n", none },
        { "link set wan0 up\nrunning wan0\n" GO_ONLINE, wifi },
        { GO_OFFLINE, none },
        { GO_ONLINE, wifi },
    };
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    for (size_t index = 0; index < 5 * sizeof changes / sizeof *changes; index++) {
        size_t row = index % (sizeof changes / sizeof *changes);
        network(changes[row].script);
        reach_monitor *monitor = monitor_of("203.0.113.9");
        expect(&desk, "all: %s after unknown, 203.0.113.9", word(changes[row].status));
        require_nothing(&desk);
        require_status(monitor, changes[row].status);
        reach_monitor_release(monitor);
    }
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------------- transitions --- */

/* Each of these comes in one step, from whichever of the others. */
static const char *const into[] = {
    [none] = "route replace unreachable default\n",
    [wwan] = "route replace default dev wwan0\n",
    [wifi] = "route replace default via 10.1.0.1\n",
};

/*
 * Every status follows every other. Unknown comes by a change of the host, which nobody is told of; whatever comes next
 * does so after unknown.
 */
static void transitions_of(const char *host, const void *kind)
{
    network(ONLINE_NETWORK "tun wwan0 519\nlink set wwan0 up\naddress add 10.2.0.2/32 dev wwan0\n");
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test other.test\n");
    struct desk desk;
    desk_create(&desk, kind);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    for (reach_status from = none; from <= wifi; from++) {
        for (reach_status to = none; to <= wifi; to++) {
            network(into[from]);
            reach_monitor *monitor = monitor_of(host);
            expect(&desk, "all: %s after unknown, %s", word(from), host);
            require_status(monitor, from);
            network(into[to]);
            if (to != from) {
                expect(&desk, "all: %s after %s, %s", word(to), word(from), host);
            }
            require_nothing(&desk);
            require_status(monitor, to);
            require(reach_monitor_set_host(monitor, "other.test"));
            expect(&desk, "all: %s after unknown, other.test", word(to));
            require_status(monitor, to);
            require_host(monitor, "other.test");
            reach_monitor_release(monitor);
        }
    }
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

static void transitions_of_the_internet(void *argument)
{
    transitions_of("0.0.0.0", argument);
}

static void transitions_of_an_address(void *argument)
{
    transitions_of("203.0.113.9", argument);
}

static void transitions_of_a_name(void *argument)
{
    transitions_of("known.test", argument);
}

/* Ways to lose the path and to have it again, and what changes flags or links without changing the status. */
static void ways_to_change(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice voice = voice_at(&desk, "a");
    reach_monitor *monitor = monitor_of("203.0.113.9");
    fence_pass(&desk.fence);
    require_status(monitor, wifi);
    uint64_t id = observe(&voice, monitor, desk.queue);
    static const struct {
        const char *script;
        reach_status status;
    } changes[] = {
        { "pull wan0\n", none },
        { "plug wan0\n", wifi },
        { "link set wan0 down\n", none },
        { "link set wan0 up\nrunning wan0\n", none },
        { GO_ONLINE, wifi },
        { "route add 203.0.113.0/24 dev wan0\n", wifi },     /* directly */
        { "route del 203.0.113.0/24\n", wifi },              /* through the gateway */
        { "veth wan1 10.3.0.2/24\n", wifi },
        { "route replace default via 10.3.0.1\n", wifi },    /* by another link */
        /* a connection is required */
        { "link set wan1 mode dormant\nlink set wan1 state dormant\nstopped wan1\n", none },
        { "link set wan1 mode default\nlink set wan1 state up\nrunning wan1\n", wifi },
        { "route add local 203.0.113.9 dev lo table local\n", wifi }, /* this machine's own */
        { GO_OFFLINE, wifi },
        { "route del local 203.0.113.9 dev lo table local\n", none },
        { GO_ONLINE GO_OFFLINE, none },
        { GO_ONLINE, wifi },
        { "route add prohibit 203.0.113.9\n", none },
    };
    reach_status previous = wifi;
    for (size_t index = 0; index < sizeof changes / sizeof *changes; index++) {
        network(changes[index].script);
        if (changes[index].status != previous) {
            expect(&desk, "a: %s after %s, 203.0.113.9", word(changes[index].status), word(previous));
        } else if (changes[index].status == none) {
            /* Whether somebody looked in between is not known. */
            fence_pass(&desk.fence);
            while (journal_pending(desk.journal) > 0) {
                expect(&desk, "a: wifi after none, 203.0.113.9");
                expect(&desk, "a: none after wifi, 203.0.113.9");
            }
        }
        require_nothing(&desk);
        require_status(monitor, changes[index].status);
        previous = changes[index].status;
    }
    require(reach_monitor_remove_observer(id));
    expect(&desk, "a: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

/* However fast it changes, what is told is a chain: each line goes on from where the line before ended. */
static void flapping(void *argument)
{
    enum { times = 200 };
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice voice = voice_at(&desk, "a");
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    uint64_t id = observe(&voice, monitor, desk.queue);
    for (int time = 0; time < times; time++) {
        network(GO_OFFLINE);
        network(GO_ONLINE);
    }
    network(GO_OFFLINE);
    fence_pass(&desk.fence);
    size_t count = journal_pending(desk.journal);
    require_message(count >= 1 && count <= 2 * times + 1 && count % 2 == 1, "%zu changes were told", count);
    for (size_t index = 0; index < count; index++) {
        expect(&desk, index % 2 == 0 ? "a: none after wifi, 0.0.0.0" : "a: wifi after none, 0.0.0.0");
    }
    require_status(monitor, none);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "a: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------------------- names --- */

static void host_that_does_not_exist(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    pid_t server = dns_start(1, "--host-record=known.test,203.0.113.9", NULL);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    reach_monitor *known = monitor_of("known.test");
    expect(&desk, "all: wifi after unknown, known.test");
    require_status(known, wifi);
    reach_monitor *missing = monitor_of("nosuch.test");
    expect(&desk, "all: none after unknown, nosuch.test");
    require_status(missing, none);
    /* It comes to be, and is found when the network or resolv.conf changes. */
    dns_stop(server);
    dns_start(2, "--host-record=known.test,203.0.113.9", "--host-record=nosuch.test,203.0.113.10", NULL);
    etc_name_server(2);
    expect(&desk, "all: wifi after none, nosuch.test");
    require_status(missing, wifi);
    require_nothing(&desk);
    reach_monitor_release(known);
    reach_monitor_release(missing);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

/* While nobody answers, nothing is known, and it is worth trying; without a path it is not. */
static void resolver_that_is_silent(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    etc_replace("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n");
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    reach_monitor *monitor = monitor_of("name.test");
    dns_fake_wait(server, "name.test", 1);
    require_nothing(&desk);
    require_status(monitor, unknown);
    network(GO_OFFLINE);
    expect(&desk, "all: none after unknown, name.test");
    require_status(monitor, none);
    network(GO_ONLINE);
    require_nothing(&desk);
    require_status(monitor, none);
    reach_monitor_release(monitor);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

static void resolver_that_fails(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    dns_fake_start(1, dns_failing);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    reach_monitor *monitor = monitor_of("name.test");
    expect(&desk, "all: none after unknown, name.test");
    etc_replace("hosts", "203.0.113.9 name.test\n");
    expect(&desk, "all: wifi after none, name.test");
    require_status(monitor, wifi);
    reach_monitor_release(monitor);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------------ the host --- */

static void same_host(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    static const char *const hosts[] = { "0.0.0.0", "known.test" };
    for (size_t index = 0; index < sizeof hosts / sizeof *hosts; index++) {
        reach_monitor *monitor = monitor_of(hosts[index]);
        expect(&desk, "all: wifi after unknown, %s", hosts[index]);
        for (int time = 0; time < 3; time++) {
            require(reach_monitor_set_host(monitor, hosts[index]));
            require_status(monitor, wifi);
        }
        require_nothing(&desk);
        require_refused(reach_monitor_set_host(monitor, ""), false, EINVAL);
        require_refused(reach_monitor_set_host(monitor, NULL), false, EINVAL);
        require_status(monitor, wifi);
        require_host(monitor, hosts[index]);
        network(GO_OFFLINE);
        expect(&desk, "all: none after wifi, %s", hosts[index]);
        network(GO_ONLINE);
        expect(&desk, "all: wifi after none, %s", hosts[index]);
        reach_monitor_release(monitor);
    }
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

/* What was found about the hosts before the last one is not told, though it was in line already. */
static void host_changed_twice_quickly(void *argument)
{
    network(ONLINE_NETWORK "route add unreachable 203.0.113.2\n");
    struct desk desk;
    desk_create(&desk, argument);
    reach_queue *quick = reach_queue_create("quick");
    struct desk witnesses = { .queue = quick, .journal = journal_create() };
    reach_monitor *monitor = monitor_of("203.0.113.1");
    fence_pass(&desk.fence);
    struct voice voice = voice_at(&desk, "a");
    struct voice witness = voice_at(&witnesses, "w");
    uint64_t id = observe(&voice, monitor, desk.queue);
    uint64_t witness_id = observe(&witness, monitor, quick);
    reach_status last = wifi;
    for (int time = 0; time < 20; time++) {
        if (desk.manual != NULL) {
            /* It hears of this after the other one has it in line, and the other one is not driven meanwhile. */
            network(last == wifi ? GO_OFFLINE : GO_ONLINE);
            last = last == wifi ? none : wifi;
            require_line(witnesses.journal, NULL, "w: %s after %s, 203.0.113.1", word(last),
                         word(last == wifi ? none : wifi));
        }
        require(reach_monitor_set_host(monitor, "203.0.113.2"));
        require(reach_monitor_set_host(monitor, "203.0.113.3"));
        require_host(monitor, "203.0.113.3");
        require(reach_queue_flush(desk.queue));
        require(reach_queue_flush(quick));
        /* With a thread, what came in between may have been told in between. */
        char line[128] = "";
        while (desk.manual == NULL && strstr(line, "203.0.113.3") == NULL) {
            require(line[0] == '\0' || strcmp(line, "a: none after unknown, 203.0.113.2") == 0);
            journal_next(desk.journal, NULL, line, sizeof line);
        }
        if (desk.manual == NULL) {
            require_text(line, "a: wifi after unknown, 203.0.113.3");
        } else {
            expect(&desk, "a: %s after unknown, 203.0.113.3", word(last));
        }
        require_nothing(&desk);
        require_status(monitor, last);
        require(reach_monitor_set_host(monitor, "203.0.113.1"));
        expect(&desk, "a: %s after unknown, 203.0.113.1", word(last));
        require_nothing(&desk);
        /* The witness is of no more use for this round. */
        require(reach_queue_flush(quick));
        while (journal_pending(witnesses.journal) > 0) {
            char line[128];
            journal_next(witnesses.journal, NULL, line, sizeof line);
        }
    }
    require(reach_monitor_remove_observer(id));
    expect(&desk, "a: released");
    require(reach_monitor_remove_observer(witness_id));
    require_line(witnesses.journal, NULL, "w: released");
    reach_monitor_release(monitor);
    reach_queue_release(quick);
    journal_free(witnesses.journal);
    desk_free(&desk);
}

/* The look-up of the old host ends after the host was changed. */
static void old_host_answers_late(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    struct dns_fake *server = dns_fake_start(1, dns_silent); /* fails after a second */
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t id = observe(&all, NULL, desk.queue);
    size_t threads = count_threads();
    reach_monitor *monitor = monitor_of("old.test");
    dns_fake_wait(server, "old.test", 1);
    require_status(monitor, unknown);
    require(reach_monitor_set_host(monitor, "older.test"));
    dns_fake_wait(server, "older.test", 1);
    require_status(monitor, unknown);
    require(reach_monitor_set_host(monitor, "203.0.113.9"));
    expect(&desk, "all: wifi after unknown, 203.0.113.9");
    wait_threads(threads);
    require_nothing(&desk);
    require_status(monitor, wifi);
    reach_monitor_release(monitor);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "all: released");
    desk_free(&desk);
}

static void set_other_host(struct voice *voice, reach_monitor *monitor)
{
    (void)voice;
    char host[64];
    reach_monitor_get_host(monitor, host, sizeof host);
    if (strcmp(host, "203.0.113.1") == 0) {
        require(reach_monitor_set_host(monitor, "203.0.113.2"));
        require_host(monitor, "203.0.113.2");
    }
}

/* From inside an observer. The others on its queue, whose turn would have been next, hear of the new host only. */
static void host_changed_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("203.0.113.1");
    fence_pass(&desk.fence);
    struct voice first = voice_at(&desk, "1"), second = voice_at(&desk, "2");
    first.act = set_other_host;
    uint64_t first_id = observe(&first, monitor, desk.queue);
    uint64_t second_id = observe(&second, monitor, desk.queue);
    network(GO_OFFLINE);
    expect(&desk, "1: none after wifi, 203.0.113.1");
    expect(&desk, "1: leaves");
    expect(&desk, "1: none after unknown, 203.0.113.2");
    expect(&desk, "1: leaves");
    expect(&desk, "2: none after unknown, 203.0.113.2");
    require_nothing(&desk);
    require_status(monitor, none);
    require(reach_monitor_remove_observer(first_id));
    expect(&desk, "1: released");
    require(reach_monitor_remove_observer(second_id));
    expect(&desk, "2: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

/* --------------------------------------------------------------------------------------------------- observers --- */

static void of_one_and_of_all(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *first = monitor_of("203.0.113.1");
    reach_monitor *second = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct voice one = voice_at(&desk, "1"), two = voice_at(&desk, "2"), all = voice_at(&desk, "all");
    struct voice again = voice_at(&desk, "again");
    uint64_t all_id = observe(&all, NULL, desk.queue);
    uint64_t one_id = observe(&one, first, desk.queue);
    uint64_t two_id = observe(&two, second, desk.queue);
    uint64_t again_id = observe(&again, first, desk.queue);
    require(all_id != one_id && one_id != two_id && two_id != again_id && all_id != 0);

    network("route add unreachable 203.0.113.1\n");
    expect(&desk, "1: none after wifi, 203.0.113.1");
    expect(&desk, "again: none after wifi, 203.0.113.1");
    expect(&desk, "all: none after wifi, 203.0.113.1");
    require_nothing(&desk);
    network(GO_OFFLINE);
    expect(&desk, "2: none after wifi, 0.0.0.0");
    expect(&desk, "all: none after wifi, 0.0.0.0");
    require_nothing(&desk);
    /* One that is made later, too, by those who observe all. */
    reach_monitor *third = monitor_of("203.0.113.3");
    expect(&desk, "all: none after unknown, 203.0.113.3");
    require_nothing(&desk);
    /* The shared one is one of all; "all" is not the shared one. */
    require(reach_monitor_set_host(NULL, "203.0.113.4"));
    char line[128];
    do {
        journal_next(desk.journal, desk.manual, line, sizeof line);
        require_message(strcmp(line, "all: none after unknown, apple.com") == 0 ||
                            strcmp(line, "all: none after unknown, 203.0.113.4") == 0, "\"%s\" came", line);
    } while (strstr(line, "203.0.113.4") == NULL);

    require(reach_monitor_remove_observer(one_id));
    expect(&desk, "1: released");
    require(reach_monitor_remove_observer(all_id));
    expect(&desk, "all: released");
    size_t before = journal_count(desk.journal);
    network("route del unreachable 203.0.113.1\n" GO_ONLINE);
    /* The two monitors are judged in no particular order. */
    journal_wait(desk.journal, desk.manual, before + 2);
    bool heard_again = false;
    for (int index = 0; index < 2; index++) {
        journal_next(desk.journal, desk.manual, line, sizeof line);
        bool is_again = strcmp(line, "again: wifi after none, 203.0.113.1") == 0;
        require_message(is_again != heard_again || index == 0, "\"%s\" came twice", line);
        require_message(is_again || strcmp(line, "2: wifi after none, 0.0.0.0") == 0, "\"%s\" came", line);
        heard_again = is_again;
    }
    require_nothing(&desk);
    reach_monitor_release(first);
    expect(&desk, "again: released");
    reach_monitor_release(second);
    expect(&desk, "2: released");
    reach_monitor_release(third);
    require_refused(reach_monitor_remove_observer(again_id), false, ENOENT);
    require_refused(reach_monitor_remove_observer(two_id), false, ENOENT);
    desk_free(&desk);
}

/* Each observer on its own queue; one that is held up holds up nobody else. */
struct held {
    struct voice voice;
    sem_t entered, leave;
    reach_monitor *monitor;
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

static void hold(struct voice *voice, reach_monitor *monitor)
{
    struct held *held = (struct held *)voice;
    require(monitor == held->monitor);
    sem_post(&held->entered);
    wait_semaphore(&held->leave);
}

static void held_create(struct held *held, struct voice voice, reach_monitor *monitor)
{
    held->voice = voice;
    held->voice.act = hold;
    held->monitor = monitor;
    require_int(sem_init(&held->entered, 0, 0), 0);
    require_int(sem_init(&held->leave, 0, 0), 0);
}

static void slow_observer_delays_nobody_else(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_queue *slow_queue = reach_queue_create("slow");
    struct desk slow_desk = { .queue = slow_queue, .journal = journal_create() };
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct held slow;
    held_create(&slow, voice_at(&slow_desk, "slow"), monitor);
    uint64_t slow_id = observe(&slow.voice, monitor, slow_queue);
    struct voice quick = voice_at(&desk, "quick");
    uint64_t quick_id = observe(&quick, monitor, desk.queue);
    network(GO_OFFLINE);
    wait_semaphore(&slow.entered);
    expect(&desk, "quick: none after wifi, 0.0.0.0");
    for (int time = 0; time < 10; time++) {
        network(GO_ONLINE);
        expect(&desk, "quick: wifi after none, 0.0.0.0");
        network(GO_OFFLINE);
        expect(&desk, "quick: none after wifi, 0.0.0.0");
    }
    require_line(slow_desk.journal, NULL, "slow: none after wifi, 0.0.0.0");
    require_silence(slow_desk.journal);
    /* It has missed nothing, nor is the order another one. */
    for (int time = 0; time < 20; time++) {
        sem_post(&slow.leave);
        require_line(slow_desk.journal, NULL, "slow: leaves");
        wait_semaphore(&slow.entered);
        require_line(slow_desk.journal, NULL, "slow: %s after %s, 0.0.0.0", word(time % 2 == 0 ? wifi : none),
                     word(time % 2 == 0 ? none : wifi));
    }
    sem_post(&slow.leave);
    require_line(slow_desk.journal, NULL, "slow: leaves");
    require(reach_queue_flush(slow_queue));
    require(reach_monitor_remove_observer(slow_id));
    require_line(slow_desk.journal, NULL, "slow: released");
    require(reach_monitor_remove_observer(quick_id));
    expect(&desk, "quick: released");
    reach_monitor_release(monitor);
    reach_queue_release(slow_queue);
    journal_free(slow_desk.journal);
    desk_free(&desk);
}

/* What an observer does to others of its queue. */
struct meddler {
    struct voice voice;
    struct desk *desk;
    struct voice other;
    _Atomic uint64_t own_id, other_id;
};

static void add_another(struct voice *voice, reach_monitor *monitor)
{
    struct meddler *meddler = (struct meddler *)voice;
    if (meddler->other_id == 0) {
        meddler->other_id = observe(&meddler->other, monitor, meddler->desk->queue);
    }
}

static void added_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct meddler meddler = { .voice = voice_at(&desk, "a"), .desk = &desk, .other = voice_at(&desk, "b") };
    meddler.voice.act = add_another;
    meddler.own_id = observe(&meddler.voice, monitor, desk.queue);
    network(GO_OFFLINE);
    expect(&desk, "a: none after wifi, 0.0.0.0");
    expect(&desk, "a: leaves");
    require_nothing(&desk); /* that change was before it observed */
    network(GO_ONLINE);
    expect(&desk, "a: wifi after none, 0.0.0.0");
    expect(&desk, "a: leaves");
    expect(&desk, "b: wifi after none, 0.0.0.0");
    require(reach_monitor_remove_observer(meddler.own_id));
    expect(&desk, "a: released");
    require(reach_monitor_remove_observer(meddler.other_id));
    expect(&desk, "b: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

static void remove_the_other(struct voice *voice, reach_monitor *monitor)
{
    (void)monitor;
    struct meddler *meddler = (struct meddler *)voice;
    require(reach_monitor_remove_observer(meddler->other_id));
    require_refused(reach_monitor_remove_observer(meddler->other_id), false, ENOENT);
}

static void other_removed_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    for (int universal = 0; universal < 2; universal++) {
        struct meddler meddler = { .voice = voice_at(&desk, "a"), .desk = &desk, .other = voice_at(&desk, "b") };
        meddler.voice.act = remove_the_other;
        meddler.own_id = observe(&meddler.voice, monitor, desk.queue);
        meddler.other_id = observe(&meddler.other, universal ? NULL : monitor, desk.queue);
        network(universal ? GO_ONLINE : GO_OFFLINE);
        expect(&desk, "a: %s, 0.0.0.0", universal ? "wifi after none" : "none after wifi");
        expect(&desk, "b: released");
        expect(&desk, "a: leaves");
        require_nothing(&desk);
        require(reach_monitor_remove_observer(meddler.own_id));
        expect(&desk, "a: released");
    }
    reach_monitor_release(monitor);
    desk_free(&desk);
}

static void remove_itself(struct voice *voice, reach_monitor *monitor)
{
    (void)monitor;
    struct meddler *meddler = (struct meddler *)voice;
    require(reach_monitor_remove_observer(meddler->own_id));
    require_refused(reach_monitor_remove_observer(meddler->own_id), false, ENOENT);
}

static void removed_inside_itself(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct meddler meddler = { .voice = voice_at(&desk, "a"), .desk = &desk };
    meddler.voice.act = remove_itself;
    meddler.own_id = observe(&meddler.voice, monitor, desk.queue);
    struct voice other = voice_at(&desk, "b");
    uint64_t other_id = observe(&other, monitor, desk.queue);
    network(GO_OFFLINE);
    expect(&desk, "a: none after wifi, 0.0.0.0");
    expect(&desk, "a: leaves");
    expect(&desk, "a: released");
    expect(&desk, "b: none after wifi, 0.0.0.0");
    network(GO_ONLINE);
    expect(&desk, "b: wifi after none, 0.0.0.0");
    require(reach_monitor_remove_observer(other_id));
    expect(&desk, "b: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

static void call_everything(struct voice *voice, reach_monitor *monitor)
{
    struct meddler *meddler = (struct meddler *)voice;
    reach_flags flags;
    require(reach_monitor_retain(monitor) == monitor);
    reach_monitor_get_status(monitor);
    reach_monitor_is_reachable(monitor);
    reach_monitor *own = monitor_of("203.0.113.77");
    require(reach_monitor_set_host(own, "203.0.113.78"));
    reach_monitor_release(own);
    reach_target *internet = target("0.0.0.0");
    require(reach_get_flags(internet, &flags));
    require(reach_set_queue(internet, meddler->desk->queue));
    require(reach_set_queue(internet, NULL));
    require_refused(reach_wait(internet, 0, &flags), false, ETIMEDOUT);
    require_refused(reach_wait(internet, 5, &flags), false, ETIMEDOUT);
    reach_release(internet);
    require_refused(reach_queue_flush(meddler->desk->queue), false, EDEADLK);
    reach_monitor_release(monitor);
}

static void everything_is_allowed_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct meddler meddler = { .voice = voice_at(&desk, "a"), .desk = &desk };
    meddler.voice.act = call_everything;
    meddler.own_id = observe(&meddler.voice, monitor, desk.queue);
    network(GO_OFFLINE);
    expect(&desk, "a: none after wifi, 0.0.0.0");
    expect(&desk, "a: leaves");
    require(reach_monitor_remove_observer(meddler.own_id));
    expect(&desk, "a: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

/* An observer that goes, or whose monitor ends, before its queue is driven hears nothing of what was in line for it. */
static void gone_before_its_turn(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, &by_hand);
    reach_queue *quick = reach_queue_create("quick");
    struct desk witnesses = { .queue = quick, .journal = journal_create() };
    struct voice witness = voice_at(&witnesses, "w");
    struct voice all = voice_at(&desk, "all");
    uint64_t all_id = observe(&all, NULL, desk.queue);
    uint64_t witness_id = observe(&witness, NULL, quick);
    for (int way = 0; way < 3; way++) {
        reach_monitor *monitor = monitor_of("0.0.0.0");
        expect(&desk, "all: wifi after unknown, 0.0.0.0");
        require_line(witnesses.journal, NULL, "w: wifi after unknown, 0.0.0.0");
        struct voice voice = voice_at(&desk, "a");
        uint64_t id = observe(&voice, monitor, desk.queue);
        network(GO_OFFLINE);
        require_line(witnesses.journal, NULL, "w: none after wifi, 0.0.0.0");
        if (way == 0) {
            require(reach_monitor_remove_observer(id));
        } else if (way == 1) {
            reach_monitor_release(monitor);
            require_refused(reach_monitor_remove_observer(id), false, ENOENT);
        } else {
            require(reach_monitor_remove_observer(id));
            require(reach_monitor_remove_observer(all_id));
        }
        expect(&desk, "a: released");
        if (way == 0) {
            /* It is nothing to those who go on observing. */
            expect(&desk, "all: none after wifi, 0.0.0.0");
        } else if (way == 2) {
            expect(&desk, "all: released");
        }
        require_nothing(&desk);
        if (way != 1) {
            reach_monitor_release(monitor);
        }
        network(GO_ONLINE);
        require_nothing(&desk);
        require(reach_queue_flush(quick));
        require(way == 1 || journal_pending(witnesses.journal) == 0);
    }
    require(reach_monitor_remove_observer(witness_id));
    require_line(witnesses.journal, NULL, "w: released");
    reach_queue_release(quick);
    journal_free(witnesses.journal);
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------- lives of monitors --- */

static void references(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    for (int extra = 0; extra < 3; extra++) {
        reach_monitor *monitor = monitor_of("0.0.0.0");
        fence_pass(&desk.fence);
        struct voice voice = voice_at(&desk, "a");
        uint64_t id = observe(&voice, monitor, desk.queue);
        for (int time = 0; time < extra; time++) {
            require(reach_monitor_retain(monitor) == monitor);
        }
        for (int time = 0; time < extra; time++) {
            reach_monitor_release(monitor);
            network(GO_OFFLINE);
            expect(&desk, "a: none after wifi, 0.0.0.0");
            network(GO_ONLINE);
            expect(&desk, "a: wifi after none, 0.0.0.0");
        }
        reach_monitor_release(monitor);
        expect(&desk, "a: released");
        require_refused(reach_monitor_remove_observer(id), false, ENOENT);
        network(GO_OFFLINE GO_ONLINE);
        require_nothing(&desk);
    }
    reach_monitor_release(NULL);
    desk_free(&desk);
}

static void release_the_last(struct voice *voice, reach_monitor *monitor)
{
    (void)voice;
    reach_monitor_release(monitor);
    /* It is alive during the call. */
    require_host(monitor, "0.0.0.0");
    require_status(monitor, none);
}

static void released_inside(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct voice first = voice_at(&desk, "1"), second = voice_at(&desk, "2"), all = voice_at(&desk, "all");
    first.act = release_the_last;
    uint64_t all_id = observe(&all, NULL, desk.queue);
    observe(&first, monitor, desk.queue);
    observe(&second, monitor, desk.queue);
    network(GO_OFFLINE);
    expect(&desk, "1: none after wifi, 0.0.0.0");
    expect(&desk, "2: released");
    expect(&desk, "1: leaves");
    expect(&desk, "1: released");
    network(GO_ONLINE);
    require_nothing(&desk);
    require(reach_monitor_remove_observer(all_id));
    expect(&desk, "all: released");
    desk_free(&desk);
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

/* By another thread, while a callback of it runs. */
static void released_while_its_callback_runs(void *argument)
{
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    struct held held;
    struct voice voice = voice_at(&desk, "a");
    voice.has_thread = false;
    held_create(&held, voice, monitor);
    uint64_t id = observe(&held.voice, monitor, desk.queue);
    pthread_t driver;
    if (desk.manual != NULL) {
        require_int(pthread_create(&driver, NULL, drive_one_callout, desk.queue), 0);
    }
    network(GO_OFFLINE);
    wait_semaphore(&held.entered);
    reach_monitor_release(monitor);
    require_refused(reach_monitor_remove_observer(id), false, ENOENT);
    network(GO_ONLINE);
    require_line(desk.journal, NULL, "a: none after wifi, 0.0.0.0");
    require_silence(desk.journal);
    sem_post(&held.leave);
    require_line(desk.journal, NULL, "a: leaves");
    require_line(desk.journal, NULL, "a: released");
    if (desk.manual != NULL) {
        require_int(pthread_join(driver, NULL), 0);
    }
    desk_free(&desk);
}

/* Whose queue goes while they observe: they are what keeps it. */
static void queue_released_while_observing(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, &by_hand);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    size_t threads = count_threads();
    size_t descriptors = count_descriptors();
    for (int way = 0; way < 3; way++) {
        reach_queue *queue = reach_queue_create("passing");
        struct desk passing = { .queue = queue, .journal = journal_create() };
        struct voice one = voice_at(&passing, "1"), all = voice_at(&passing, "all");
        uint64_t one_id = observe(&one, monitor, queue);
        uint64_t all_id = observe(&all, NULL, queue);
        reach_queue_release(queue);
        for (int time = 0; time < 3; time++) {
            network(GO_OFFLINE);
            require_line(passing.journal, NULL, "1: none after wifi, 0.0.0.0");
            require_line(passing.journal, NULL, "all: none after wifi, 0.0.0.0");
            network(GO_ONLINE);
            require_line(passing.journal, NULL, "1: wifi after none, 0.0.0.0");
            require_line(passing.journal, NULL, "all: wifi after none, 0.0.0.0");
        }
        require(reach_monitor_remove_observer(way == 0 ? one_id : all_id));
        require_line(passing.journal, NULL, way == 0 ? "1: released" : "all: released");
        network(GO_OFFLINE GO_ONLINE);
        if (way == 2) {
            reach_monitor_release(monitor);
            monitor = monitor_of("0.0.0.0");
        } else {
            require(reach_monitor_remove_observer(way == 0 ? all_id : one_id));
        }
        /* Of two changes the monitor may have heard of the first only, and then the next one is none. */
        fence_pass(&desk.fence);
        wait_threads(threads);
        require_int(count_descriptors(), descriptors);
        char line[128];
        do {
            journal_next(passing.journal, NULL, line, sizeof line);
        } while (strstr(line, "released") == NULL);
        require_silence(passing.journal);
        journal_free(passing.journal);
    }
    /* By hand, with news in line that nobody will ever hear. */
    reach_queue *manual = reach_queue_create_manual();
    struct voice unheard = { .name = "unheard", .journal = desk.journal };
    uint64_t id = observe(&unheard, monitor, manual);
    reach_queue_release(manual);
    network(GO_OFFLINE GO_ONLINE);
    require_nothing(&desk);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "unheard: released");
    require_int(count_descriptors(), descriptors);
    reach_monitor_release(monitor);
    desk_free(&desk);
}

/* However many there are: one thread, and no descriptors of their own. */
static void many_monitors(void *argument)
{
    enum { count = 300 };
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, argument);
    struct voice all = voice_at(&desk, "all");
    uint64_t all_id = observe(&all, NULL, desk.queue);
    size_t threads = count_threads();
    size_t descriptors = count_descriptors();
    reach_monitor *monitors[count];
    struct voice voices[count];
    uint64_t ids[count];
    for (int index = 0; index < count; index++) {
        char host[32];
        snprintf(host, sizeof host, "203.0.113.%d", index % 250 + 1);
        monitors[index] = monitor_of(host);
        require_int(count_threads(), threads);
        require_int(count_descriptors(), descriptors);
    }
    journal_wait(desk.journal, desk.manual, count);
    char line[128];
    for (int index = 0; index < count; index++) {
        journal_next(desk.journal, desk.manual, line, sizeof line);
        require_message(strncmp(line, "all: wifi after unknown, 203.0.113.", 35) == 0, "\"%s\" came", line);
    }
    require(reach_monitor_remove_observer(all_id));
    expect(&desk, "all: released");
    for (int index = 0; index < count; index++) {
        voices[index] = voice_at(&desk, "one");
        ids[index] = observe(&voices[index], monitors[index], desk.queue);
    }
    for (int time = 0; time < 4; time++) {
        size_t before = journal_count(desk.journal);
        network(time % 2 == 0 ? GO_OFFLINE : GO_ONLINE);
        journal_wait(desk.journal, desk.manual, before + count);
        for (int index = 0; index < count; index++) {
            journal_next(desk.journal, desk.manual, line, sizeof line);
            const char *expected = time % 2 == 0 ? "one: none after wifi" : "one: wifi after none";
            require_message(strncmp(line, expected, strlen(expected)) == 0, "\"%s\" came", line);
        }
        require_nothing(&desk);
    }
    for (int index = 0; index < count; index++) {
        if (index % 2 == 0) {
            require(reach_monitor_remove_observer(ids[index]));
        }
        reach_monitor_release(monitors[index]);
        expect(&desk, "one: released");
    }
    require_int(count_threads(), threads);
    require_int(count_descriptors(), descriptors);
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------- the shared one --- */

struct first_use {
    pthread_barrier_t start;
    bool sets_host;
    _Atomic(reach_monitor *) seen;
};

struct user {
    struct first_use *use;
    int number;
};

static void *use_shared(void *argument)
{
    struct user *user = argument;
    char host[64];
    pthread_barrier_wait(&user->use->start);
    switch (user->number) {
    case 0:
        if (user->use->sets_host) {
            require(reach_monitor_set_host(NULL, "192.0.2.1"));
            break;
        }
        /* fall through */
    case 1:
    case 2: {
        reach_monitor *shared = reach_monitor_shared();
        require_message(shared != NULL, "%s", errno_name(errno));
        reach_monitor *none_yet = NULL;
        require(atomic_compare_exchange_strong(&user->use->seen, &none_yet, shared) || none_yet == shared);
        break;
    }
    case 3: {
        reach_status status = reach_monitor_get_status(NULL);
        require_message(status == unknown || status == none, "the status is %s", word(status));
        break;
    }
    case 4:
        reach_monitor_is_reachable(NULL);
        break;
    default: {
        size_t length = reach_monitor_get_host(NULL, host, sizeof host);
        require_int(length, 9);
        require_message(strcmp(host, "apple.com") == 0 || (user->use->sets_host && strcmp(host, "192.0.2.1") == 0),
                        "the host is \"%s\"", host);
    }
    }
    return NULL;
}

/* In a namespace without a path, so that no look-up goes anywhere. */
static void use_for_the_first_time(bool sets_host)
{
    enum { count = 8 };
    struct first_use use = { .sets_host = sets_host };
    require_int(pthread_barrier_init(&use.start, NULL, count), 0);
    size_t threads = count_threads();
    struct user users[count];
    pthread_t ids[count];
    for (int index = 0; index < count; index++) {
        users[index] = (struct user){ &use, index };
        require_int(pthread_create(&ids[index], NULL, use_shared, &users[index]), 0);
    }
    for (int index = 0; index < count; index++) {
        require_int(pthread_join(ids[index], NULL), 0);
    }
    require(reach_monitor_shared() == atomic_load(&use.seen));
    require_host(NULL, sets_host ? "192.0.2.1" : "apple.com");
    wait_threads(threads + 1);
    pthread_barrier_destroy(&use.start);
}

static void require_child(pid_t child)
{
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_message(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed, with wait status 0x%x", status);
}

static void shared_at_first_use(void *argument)
{
    (void)argument;
    for (int time = 0; time < 100; time++) {
        pid_t child = fork();
        require(child >= 0);
        if (child == 0) {
            use_for_the_first_time(time % 2 == 1);
            _exit(0);
        }
        require_child(child);
    }
}

/* Who sets the shared monitor's host before anything else does not have the one it begins with looked up. */
static void shared_begins_with_another_host(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    etc_own();
    struct dns_fake *server = dns_fake_start(1, dns_failing);
    etc_name_server(1);
    require_refused(reach_monitor_set_host(NULL, ""), false, EINVAL);
    require(reach_monitor_set_host(NULL, "asked.test"));
    require_host(NULL, "asked.test");
    dns_fake_wait(server, "asked.test", 1);
    require_int(dns_fake_queries(server, "apple.com"), 0);
}

/* What is refused starts nothing. */
static void refused_hosts_start_nothing(void *argument)
{
    (void)argument;
    size_t threads = count_threads();
    size_t descriptors = count_descriptors();
    require_refused(reach_monitor_create(""), NULL, EINVAL);
    require_int(count_threads(), threads);
    require_int(count_descriptors(), descriptors);
}

static void shared_is_like_others(void *argument)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *shared = reach_monitor_shared();
    require_message(shared != NULL, "%s", errno_name(errno));
    require_host(shared, "apple.com");
    require(reach_monitor_set_host(shared, "0.0.0.0"));
    require_host(NULL, "0.0.0.0");
    fence_pass(&desk.fence);
    struct voice voice = voice_at(&desk, "a");
    uint64_t id = observe(&voice, shared, desk.queue);
    /* Nobody's releases end it. */
    for (int time = 0; time < 5; time++) {
        require(reach_monitor_retain(shared) == shared);
        reach_monitor_release(shared);
        reach_monitor_release(shared);
    }
    require(reach_monitor_shared() == shared);
    network(GO_ONLINE);
    expect(&desk, "a: wifi after none, 0.0.0.0");
    require_status(NULL, wifi);
    require_status(shared, wifi);
    require(reach_monitor_set_host(NULL, "203.0.113.9"));
    expect(&desk, "a: wifi after unknown, 203.0.113.9");
    network(GO_OFFLINE);
    expect(&desk, "a: none after wifi, 203.0.113.9");
    require_status(NULL, none);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "a: released");
    desk_free(&desk);
}

/* What could not be had the first time is tried again the next time. */
static void without_descriptors(void *argument)
{
    bool shared = argument != NULL;
    network("link set lo up\nveth wan0 10.1.0.2/24\n");
    struct journal *journal = journal_create();
    struct voice all = { .name = "all", .journal = journal };
    reach_queue *queue = reach_queue_create("desk");
    uint64_t id = reach_monitor_add_observer(NULL, queue, heard, &all, NULL);
    require(id != 0);
    int next = dup(STDIN_FILENO);
    require(next >= 0);
    close(next);
    reach_monitor *monitor = NULL;
    for (int room = 0; monitor == NULL; room++) {
        require_message(room < 16, "a monitor needs more than 16 descriptors");
        for (int time = 0; time < 5 && monitor == NULL; time++) {
            rlim_t before = limit_descriptors((rlim_t)(next + room));
            errno = 0;
            monitor = shared ? reach_monitor_shared() : reach_monitor_create("203.0.113.9");
            int error = errno;
            limit_descriptors(before);
            require_message(monitor != NULL || error == EMFILE, "%s", errno_name(error));
        }
    }
    require_host(monitor, shared ? "apple.com" : "203.0.113.9");
    require_line(journal, NULL, "all: none after unknown, %s", shared ? "apple.com" : "203.0.113.9");
    require(reach_monitor_set_host(monitor, "203.0.113.9"));
    if (shared) {
        require_line(journal, NULL, "all: none after unknown, 203.0.113.9");
    }
    network(GO_ONLINE);
    require_line(journal, NULL, "all: wifi after none, 203.0.113.9");
    require(reach_monitor_remove_observer(id));
    require(reach_queue_flush(queue));
    require_silence(journal);
    reach_monitor_release(monitor);
    reach_queue_release(queue);
    journal_free(journal);
}

/* -------------------------------------------------------------------------------------------------------- forks --- */

/* In the child, the parent's monitors are what they were, and its own are as anybody's. */
static void in_the_child(reach_monitor *parents, reach_monitor *parents_shared, reach_queue *parents_queue, uint64_t id)
{
    require_host(parents, "0.0.0.0");
    require_status(parents, wifi);
    require_refused(reach_monitor_set_host(parents, "203.0.113.9"), false, ESTALE);
    require_refused(reach_monitor_set_host(parents_shared, "203.0.113.9"), false, ESTALE);
    require_refused(reach_monitor_remove_observer(id), false, ENOENT);
    struct journal *journal = journal_create();
    struct voice refused = { .name = "refused", .journal = journal };
    require_refused(reach_monitor_add_observer(NULL, parents_queue, heard, &refused, released), 0, ESTALE);
    require_line(journal, NULL, "refused: released");
    require_refused(reach_monitor_add_observer(parents, parents_queue, heard, &refused, released), 0, ESTALE);
    require_line(journal, NULL, "refused: released");
    reach_queue *queue = reach_queue_create("child");
    require_message(queue != NULL, "%s", errno_name(errno));
    require_refused(reach_monitor_add_observer(parents, queue, heard, &refused, released), 0, ESTALE);
    require_line(journal, NULL, "refused: released");

    /* Of its own. */
    struct voice all = { .name = "all", .journal = journal };
    uint64_t all_id = observe(&all, NULL, queue);
    reach_monitor *own = monitor_of("0.0.0.0");
    require(own != parents && own != parents_shared);
    require_line(journal, NULL, "all: wifi after unknown, 0.0.0.0");
    reach_monitor *shared = reach_monitor_shared();
    require(shared != NULL && shared != parents && shared != parents_shared);
    require_host(shared, "apple.com");
    require(reach_monitor_set_host(NULL, "203.0.113.9"));
    char line[128];
    journal_next(journal, NULL, line, sizeof line);
    if (strcmp(line, "all: wifi after unknown, apple.com") == 0) {
        /* The look-up was quicker than the change of the host. */
        journal_next(journal, NULL, line, sizeof line);
    }
    require_text(line, "all: wifi after unknown, 203.0.113.9");
    /* What it inherited can be let go of, the shared one as often as anybody likes. */
    reach_monitor_release(parents);
    for (int time = 0; time < 3; time++) {
        reach_monitor_release(parents_shared);
    }
    require_host(parents_shared, "203.0.113.9");
    network(GO_OFFLINE);
    for (int index = 0; index < 2; index++) {
        journal_next(journal, NULL, line, sizeof line);
        require_message(strncmp(line, "all: none after wifi, ", 22) == 0, "\"%s\" came", line);
    }
    require_silence(journal);
    require(reach_monitor_remove_observer(all_id));
    require(reach_queue_flush(queue));
    require_line(journal, NULL, "all: released");
    reach_monitor_release(own);
    reach_queue_release(queue);
    journal_free(journal);
}

static void forked(void *argument)
{
    network(ONLINE_NETWORK);
    etc_own();
    etc_replace("hosts", "203.0.113.9 apple.com\n");
    struct desk desk;
    desk_create(&desk, argument);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    reach_monitor *shared = reach_monitor_shared();
    require(shared != NULL);
    require(reach_monitor_set_host(shared, "203.0.113.9"));
    fence_pass(&desk.fence);
    struct voice voice = voice_at(&desk, "a");
    uint64_t id = observe(&voice, monitor, desk.queue);
    fflush(NULL);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        in_the_child(monitor, shared, desk.queue, id);
        _exit(0);
    }
    require_child(child);
    expect(&desk, "a: none after wifi, 0.0.0.0");
    network(GO_ONLINE);
    expect(&desk, "a: wifi after none, 0.0.0.0");
    require_nothing(&desk);
    require_host(shared, "203.0.113.9");
    require_status(shared, wifi);
    require(reach_monitor_remove_observer(id));
    expect(&desk, "a: released");
    reach_monitor_release(monitor);
    desk_free(&desk);
}

/* ------------------------------------------------------------------------------------------------ many threads --- */

/* What one observer heard last, to see that what it hears next goes on from there. */
struct chain {
    struct observations *observations;
    _Atomic reach_status last;
};

struct observations {
    reach_monitor *monitors[4];
    atomic_int registered, released, calls;
};

static void follow_chain(reach_monitor *monitor, reach_status status, reach_status previous, const char *host,
                         void *info)
{
    struct chain *chain = info;
    require(monitor != NULL && host[0] != '\0' && status != previous && status != unknown);
    reach_status last = atomic_exchange(&chain->last, status);
    /* Before the first, anything may have been; unknown comes untold, by a change of the host. */
    require_message(last == unknown || previous == unknown || previous == last,
                    "%s follows %s, it is said, but %s was told", word(status), word(previous), word(last));
    atomic_fetch_add(&chain->observations->calls, 1);
}

static void chain_released(void *info)
{
    struct chain *chain = info;
    atomic_fetch_add(&chain->observations->released, 1);
    free(chain);
}

static void *hammer(void *argument)
{
    struct anvil *anvil = argument;
    struct observations *observations = anvil->info;
    unsigned state = (unsigned)(uintptr_t)&state;
    enum { own = 8 };
    uint64_t ids[own] = { 0 };
    while (!atomic_load(&anvil->stop)) {
        unsigned random = next_random(&state);
        reach_monitor *struck = observations->monitors[random >> 10 & 3];
        reach_queue *queue = anvil->queues[random >> 12 & 1];
        uint64_t *id = &ids[random >> 20 & (own - 1)];
        switch (random >> 24 & 7) {
        case 0:
        case 1:
            if (*id == 0) {
                struct chain *chain = malloc(sizeof *chain);
                require(chain != NULL);
                chain->observations = observations;
                atomic_init(&chain->last, unknown);
                atomic_fetch_add(&observations->registered, 1);
                *id = reach_monitor_add_observer(struck, queue, follow_chain, chain, chain_released);
                require_message(*id != 0, "%s", errno_name(errno));
            } else {
                require(reach_monitor_remove_observer(*id));
                *id = 0;
            }
            break;
        case 2:
            require(reach_monitor_set_host(struck, random >> 16 & 1 ? "0.0.0.0" : "203.0.113.9"));
            break;
        case 3: {
            reach_monitor *passing = monitor_of(random >> 16 & 1 ? "0.0.0.0" : "known.test");
            reach_monitor_retain(passing);
            reach_monitor_release(passing);
            reach_monitor_release(passing);
            break;
        }
        case 4:
            require(reach_queue_flush(queue));
            break;
        case 5: {
            char host[64];
            require(reach_monitor_get_host(struck, host, sizeof host) > 0);
            break;
        }
        default: {
            reach_status status = reach_monitor_get_status(struck);
            require(status == unknown || status == none || status == wifi);
            reach_monitor_is_reachable(struck);
        }
        }
    }
    for (int index = 0; index < own; index++) {
        if (ids[index] != 0) {
            require(reach_monitor_remove_observer(ids[index]));
        }
    }
    return NULL;
}

static void hammered_by_many_threads(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    static struct observations observations;
    for (int index = 0; index < 4; index++) {
        observations.monitors[index] = monitor_of("0.0.0.0");
    }
    size_t threads = count_threads();
    struct anvil anvil = { .info = &observations };
    anvil_strike(&anvil, 6, hammer, GO_OFFLINE, GO_ONLINE);
    for (int index = 0; index < 4; index++) {
        reach_monitor_release(observations.monitors[index]);
    }
    anvil_release(&anvil);
    wait_threads(threads);
    require_int(atomic_load(&observations.released), atomic_load(&observations.registered));
    require(atomic_load(&observations.calls) > 0);
}

/* Forks while the monitors are busy: whatever a thread of the parent had locked, the child is not held up by it. */
static void forked_while_busy(void *argument)
{
    (void)argument;
    enum { times = 100 };
    network(ONLINE_NETWORK);
    struct desk desk;
    desk_create(&desk, &with_thread);
    reach_monitor *monitor = monitor_of("0.0.0.0");
    fence_pass(&desk.fence);
    static struct observations observations;
    struct anvil anvil = { .queues = { desk.queue, desk.queue }, .info = &observations };
    for (int index = 0; index < 4; index++) {
        observations.monitors[index] = monitor;
    }
    anvil_begin(&anvil, 2, hammer);
    for (int time = 0; time < times; time++) {
        fflush(NULL);
        pid_t child = fork();
        require(child >= 0);
        if (child == 0) {
            alarm((unsigned)deadline_ms() / 1000);
            char host[64];
            require(reach_monitor_get_host(monitor, host, sizeof host) > 0);
            reach_monitor_get_status(monitor);
            require_refused(reach_monitor_set_host(monitor, "203.0.113.8"), false, ESTALE);
            reach_monitor *own = monitor_of("203.0.113.9");
            reach_monitor_release(own);
            reach_monitor_release(monitor);
            _exit(0);
        }
        require_child(child);
    }
    anvil_end(&anvil);
    reach_monitor_release(monitor);
    desk_free(&desk);
    require_int(atomic_load(&observations.released), atomic_load(&observations.registered));
}

/* --------------------------------------------------------------------------------------------------------- idle --- */

static void never_answered(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)target;
    (void)info;
    fail_scenario(__FILE__, __LINE__, "an answer came: %d, 0x%x", online, flags);
}

/*
 * Ten monitors of every kind in a network where nothing happens, with observers on queues of both kinds, and answers
 * that are long in coming: not one wake-up. For two seconds, or as many as REACH_TEST_IDLE_SECONDS says.
 */
static void idle(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK "route add unreachable 203.0.113.2\n");
    etc_own();
    etc_replace("hosts", "203.0.113.9 known.test\n203.0.113.2 known-unreachable.test\n");
    pid_t server = dns_start(1, "--host-record=asked.test,203.0.113.9", NULL);
    static const char *const hosts[] = {
        "0.0.0.0",     "::",          "203.0.113.1", "203.0.113.2", "10.1.0.2",
        "known.test", "asked.test", "localhost", "nosuch.test", "known-unreachable.test",
    };
    enum { count = sizeof hosts / sizeof *hosts };
    struct desk desk;
    desk_create(&desk, &by_hand);
    size_t threads = count_threads();
    reach_queue *queue = reach_queue_create("observers");
    struct desk observers = { .queue = queue, .journal = journal_create() };
    struct voice by_thread = voice_at(&observers, "t"), manually = voice_at(&desk, "m");
    uint64_t ids[] = { observe(&by_thread, NULL, queue), observe(&manually, NULL, desk.queue) };
    reach_monitor *monitors[count];
    for (int index = 0; index < count; index++) {
        monitors[index] = monitor_of(hosts[index]);
    }
    journal_wait(observers.journal, NULL, count);
    journal_wait(desk.journal, desk.manual, count);
    wait_threads(threads + 1); /* the look-ups have ended */
    fence_pass(&desk.fence);
    require(reach_queue_flush(queue));
    while (reach_queue_dispatch(desk.queue, 0) > 0) {
    }

    reach_target *never = target("203.0.113.2");
    uint64_t confirmations[] = {
        reach_confirm(never, 3600 * 1000, queue, never_answered, NULL, NULL),
        reach_confirm(never, -1, desk.queue, never_answered, NULL, NULL),
    };
    require(confirmations[0] != 0 && confirmations[1] != 0);

    const char *wish = getenv("REACH_TEST_IDLE_SECONDS");
    int seconds = wish == NULL ? 2 : atoi(wish);
    int descriptor = reach_queue_fd(desk.queue);
    /* What the kernel does late about the new links may come once more; what comes by itself comes every time. */
    long switches = 0;
    bool woken = true;
    for (int time = 0; time < 3 && (woken || switches != 0); time++) {
        alarm((unsigned)(seconds + 60));
        while (is_readable(descriptor, 0)) {
            require_int(reach_queue_dispatch(desk.queue, 0), 0);
        }
        long before = count_context_switches();
        woken = is_readable(descriptor, seconds * 1000);
        switches = count_context_switches() - before;
    }
    require_message(!woken, "the manual queue had something to do");
    require_message(switches == 0, "%ld context switches in %d s", switches, seconds);

    /* They are awake when something happens. */
    require_int(journal_count(desk.journal), count);
    network(GO_OFFLINE);
    journal_wait(observers.journal, NULL, count + 4);
    for (int index = 0; index < count; index++) {
        reach_monitor_release(monitors[index]);
    }
    for (int index = 0; index < 2; index++) {
        require(reach_monitor_remove_observer(ids[index]));
        require(reach_confirm_cancel(confirmations[index]));
    }
    reach_release(never);
    require(reach_queue_flush(queue));
    reach_queue_release(queue);
    wait_threads(threads);
    journal_free(observers.journal);
    dns_stop(server);
    while (journal_pending(desk.journal) > 0) {
        char line[128];
        journal_next(desk.journal, NULL, line, sizeof line);
    }
    desk_free(&desk);
}

int main(void)
{
    static int yes;
#define BOTH(f) \
    namespace_test_with(#f ", thread queue", f, &with_thread), namespace_test_with(#f ", manual queue", f, &by_hand)
    const struct CMUnitTest tests[] = {
        BOTH(first_status_online),
        BOTH(first_status_offline),
        BOTH(first_status_cellular),
        BOTH(first_status_right_after_a_change),
        BOTH(transitions_of_the_internet),
        BOTH(transitions_of_an_address),
        BOTH(transitions_of_a_name),
        BOTH(ways_to_change),
        BOTH(flapping),
        BOTH(host_that_does_not_exist),
        BOTH(resolver_that_is_silent),
        BOTH(resolver_that_fails),
        BOTH(same_host),
        BOTH(host_changed_twice_quickly),
        BOTH(old_host_answers_late),
        BOTH(host_changed_inside),
        BOTH(of_one_and_of_all),
        BOTH(slow_observer_delays_nobody_else),
        BOTH(added_inside),
        BOTH(other_removed_inside),
        BOTH(removed_inside_itself),
        BOTH(everything_is_allowed_inside),
        namespace_test(gone_before_its_turn),
        BOTH(references),
        BOTH(released_inside),
        BOTH(released_while_its_callback_runs),
        namespace_test(queue_released_while_observing),
        BOTH(many_monitors),
        namespace_test(shared_at_first_use),
        BOTH(shared_is_like_others),
        namespace_test(shared_begins_with_another_host),
        namespace_test(refused_hosts_start_nothing),
        namespace_test_with("without_descriptors, own monitor", without_descriptors, NULL),
        namespace_test_with("without_descriptors, shared monitor", without_descriptors, &yes),
        BOTH(forked),
        namespace_test(hammered_by_many_threads),
        namespace_test(forked_while_busy),
        namespace_test(idle),
    };
    return cmocka_run_group_tests_name("monitors", tests, NULL, NULL);
}
