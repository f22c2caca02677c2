/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Uses libreach while the shim makes libc fail under it, and judges what libreach then says and does.
 *
 *     driver SCENARIO FAULT FIRST COUNT      one fault: the calls FIRST to FIRST + COUNT - 1 fail (-1: for ever)
 *     driver SCENARIO count FAULT            how often the scenario calls the fault's function
 *     driver random SEED STEPS PER_MILLE     many operations and changes, any of the calls failing at random
 *     driver list                            the scenarios, one a line
 *
 * It runs in a network namespace in which the link wan0 is up and has an address, and 10.1.0.1 is its neighbour. It
 * knows the truth, because it changes the default route itself, and nothing else changes. What must hold:
 *
 *   - while the fault lasts, a question is answered rightly, or refused with an error; never answered wrongly;
 *   - after it, everything that failed can be done, the state is right without any further change, and the next change
 *     is reported; info was released once; no descriptor was lost.
 *
 * Each observation is printed as a line "STEP: RESULT"; anything that must not be is printed as "WRONG: ..." and ends
 * the program with status 1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <reach.h>

#include "../Soak/default_route.h"
#include "faults.h"

#define DEADLINE_MS 15000
#define ONLINE REACH_FLAG_REACHABLE
#define HOST "host.faults.example"
#define OUTSIDE "198.51.100.7"
#define ATTEMPTS 12

/* -------------------------------------------------------------------------------------------------- reporting --- */

static pthread_mutex_t print_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned fault;
static bool random_faults;

/* A call into the library, during which the shim takes calls that come straight from here for the library's. */
#define IN(result, call) \
    do { \
        faults_enter(); \
        result = (call); \
        faults_leave(); \
    } while (0)

__attribute__((format(printf, 2, 3))) static void note(const char *step, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&print_mutex);
    if (!random_faults) {
        printf("%s: ", step);
        vprintf(format, arguments);
        printf("\n");
    }
    pthread_mutex_unlock(&print_mutex);
    va_end(arguments);
}

__attribute__((format(printf, 1, 2))) static _Noreturn void wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&print_mutex);
    printf("WRONG: ");
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    va_end(arguments);
    _exit(1);
}

/* An error is acceptable when it is the one that was injected. What is no error of a system call (bytes that make no
 * sense) may be told in one of the ways in which such a thing can be told. */
static void accept_error(const char *step, int error)
{
    if (error == 0) {
        wrong("%s failed without an error number", step);
    }
    int injected = random_faults ? 0 : faults_errno(fault);
    /* Where the kernel's answer should be and nothing is, "try again" would not be the word for it. */
    bool nothing_there = injected == EAGAIN && strncmp(faults_function(fault), "recv", 4) == 0;
    if (injected == 0 || nothing_there) {
        static const int strange[] = { EBADMSG, EPROTO, EIO, EAGAIN, ENOBUFS, EINVAL, ETIMEDOUT };
        for (size_t i = 0; i < sizeof strange / sizeof strange[0] && !random_faults; i++) {
            injected = strange[i] == error ? error : injected;
        }
    }
    if (!random_faults && error != injected) {
        wrong("%s failed with %s, which is not the injected error", step, strerrorname_np(error));
    }
    note(step, "%s", strerrorname_np(error));
}

/* ------------------------------------------------------------------------------------------------ the network --- */

static struct default_route default_route;
static bool route_is_there;

static void set_route(bool present)
{
    int error = default_route_set(&default_route, present);
    if (error != 0) {
        wrong("the route cannot be %s: %s", present ? "added" : "deleted", strerrorname_np(error));
    }
    route_is_there = present;
}

static void network_start(bool with_route)
{
    if (!default_route_open(&default_route, "wan0", "10.1.0.1")) {
        fprintf(stderr, "driver: this is not the namespace it needs; run it through the tests\n");
        exit(2);
    }
    /* An earlier run may have left the route, or not. */
    (void)default_route_set(&default_route, false);
    route_is_there = false;
    if (with_route) {
        set_route(true);
    }
}

static reach_flags truth(void)
{
    return route_is_there ? ONLINE : 0;
}

/* ------------------------------------------------------------------------------------------------------- time --- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

/* --------------------------------------------------------------------------------------------------- recorder --- */

/* What was heard last, by whom, and how often info was released. */
struct recorder {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned events, releases;
    reach_flags last;
    bool is_known; /* by an event, or by the state in which the target was scheduled */
    bool online;
};

static void recorder_init(struct recorder *recorder)
{
    pthread_condattr_t attributes;
    memset(recorder, 0, sizeof *recorder);
    pthread_mutex_init(&recorder->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->changed, &attributes);
}

static void heard(struct recorder *recorder, reach_flags flags, bool online)
{
    pthread_mutex_lock(&recorder->mutex);
    recorder->events++;
    recorder->last = flags;
    recorder->is_known = true;
    recorder->online = online;
    pthread_cond_broadcast(&recorder->changed);
    pthread_mutex_unlock(&recorder->mutex);
}

static void on_change(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    heard(info, flags, reach_flags_is_online(flags));
}

static void on_answer(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)target;
    heard(info, flags, online);
}

static void on_status(reach_monitor *monitor, reach_status status, reach_status previous, const char *host, void *info)
{
    (void)monitor;
    (void)previous;
    if (strcmp(host, HOST) != 0) {
        wrong("the monitor tells of host %s", host);
    }
    heard(info, 0, status > REACH_STATUS_NOT_REACHABLE);
}

static void on_release(void *info)
{
    struct recorder *recorder = info;
    pthread_mutex_lock(&recorder->mutex);
    recorder->releases++;
    pthread_cond_broadcast(&recorder->changed);
    pthread_mutex_unlock(&recorder->mutex);
}

typedef bool (*condition)(struct recorder *recorder, unsigned value);

static bool events_reached(struct recorder *recorder, unsigned value)
{
    return recorder->events >= value;
}

static bool online_is(struct recorder *recorder, unsigned value)
{
    return recorder->is_known && recorder->online == (value != 0);
}

static bool never(struct recorder *recorder, unsigned value)
{
    (void)recorder;
    (void)value;
    return false;
}

static bool releases_reached(struct recorder *recorder, unsigned value)
{
    return recorder->releases >= value;
}

/* Waits for a condition; a manual queue is driven meanwhile, as a caller's loop would drive it. */
static bool wait_for(struct recorder *recorder, reach_queue *manual, condition met, unsigned value, int timeout_ms)
{
    int64_t end = now_ms() + timeout_ms;
    for (;;) {
        pthread_mutex_lock(&recorder->mutex);
        bool done = met(recorder, value);
        int64_t left = end - now_ms();
        if (!done && left > 0 && manual == NULL) {
            struct timespec until = { .tv_sec = end / 1000, .tv_nsec = end % 1000 * 1000000 };
            pthread_cond_timedwait(&recorder->changed, &recorder->mutex, &until);
            done = met(recorder, value);
        }
        pthread_mutex_unlock(&recorder->mutex);
        if (done || left <= 0) {
            return done;
        }
        if (manual != NULL) {
            struct pollfd descriptor = { .fd = reach_queue_fd(manual), .events = POLLIN };
            poll(&descriptor, 1, (int)left);
            int count;
            IN(count, reach_queue_dispatch(manual, 0));
            if (count < 0) {
                accept_error("dispatching", errno);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ steps --- */

static bool armed;
static unsigned arm_first, arm_count;
static bool only_counting;

static void arm(void)
{
    armed = true;
    if (only_counting) {
        faults_watch();
    } else {
        faults_arm(fault, arm_first, arm_count);
    }
}

static void disarm(void)
{
    printf("calls: %u\nfired: %u\n", faults_calls(fault), faults_fired());
    faults_disarm();
    armed = false;
}

static reach_target *target_of(const char *address)
{
    struct sockaddr_in where = { .sin_family = AF_INET };
    inet_pton(AF_INET, address, &where.sin_addr);
    reach_target *target;
    IN(target, reach_create_with_address((struct sockaddr *)&where, sizeof where));
    if (target == NULL) {
        wrong("an address target cannot be made: %s", strerrorname_np(errno));
    }
    return target;
}

/* Asks in each of the ways there are. */
static void ask(const char *step, reach_target *target)
{
    reach_flags flags = 0xdeadbeef;
    bool ok;
    errno = 0;
    IN(ok, reach_get_flags(target, &flags));
    if (!ok) {
        if (!armed) {
            wrong("%s: the question is refused after the fault: %s", step, strerrorname_np(errno));
        }
        accept_error(step, errno);
        if (flags != 0xdeadbeef) {
            wrong("%s: flags were written without success", step);
        }
    } else if (flags != truth()) {
        wrong("%s: flags are 0x%x, and should be 0x%x", step, flags, truth());
    } else {
        note(step, "right");
    }

    reach_path path;
    memset(&path, 0, sizeof path);
    IN(ok, reach_get_path(target, &path, sizeof path));
    if (!ok) {
        if (!armed) {
            wrong("%s: the path is refused after the fault: %s", step, strerrorname_np(errno));
        }
        accept_error("asking for the path", errno);
    } else if (path.flags != truth() || (path.reason == REACH_REASON_REACHABLE) != route_is_there ||
               (route_is_there && path.interface_index != default_route.link)) {
        wrong("%s: the path has flags 0x%x, reason %d, link %u", step, path.flags, path.reason, path.interface_index);
    } else {
        note("asking for the path", "right");
    }
}

static void ask_online(const char *step)
{
    bool online;
    errno = 0;
    IN(online, reach_is_online());
    int error = errno;
    if (online && !route_is_there) {
        wrong("%s: online, without a route", step);
    } else if (!online && error == 0 && route_is_there) {
        wrong("%s: offline, with a route", step);
    } else if (!online && error != 0 && !armed) {
        wrong("%s: refused after the fault: %s", step, strerrorname_np(error));
    } else if (!online && error != 0) {
        accept_error(step, error);
    } else {
        note(step, "right");
    }
}

static void flip(void)
{
    set_route(!route_is_there);
}

/* More changes at once than a queue looks at in a second, and another state at their end. */
static void storm(void)
{
    for (int i = 0; i < 151; i++) {
        flip();
    }
}

/* A resolver that said "no such name" has given an answer, which stands until the network changes. A change that was
 * undone before anybody looked is none, so that it may take several. Returns whether the name is told to be online. */
static bool heal_name(struct recorder *recorder, reach_queue *manual)
{
    if (only_counting || random_faults || strcmp(faults_function(fault), "getaddrinfo") != 0) {
        return true;
    }
    for (int i = 0; i < 8; i++) {
        if (route_is_there) {
            set_route(false);
            (void)wait_for(recorder, manual, never, 0, 50);
        }
        set_route(true);
        if (wait_for(recorder, manual, online_is, 1, 2500)) {
            return true;
        }
    }
    return false;
}

/* ----------------------------------------------------------------------------------------- scenarios: asking --- */

static void ask_all(const char *step, reach_target *internet, reach_target *host)
{
    ask(step, internet);
    ask(step, host);
    ask_online(step);
}

static void scenario_ask(bool fresh)
{
    reach_target *internet = target_of("0.0.0.0"), *host = target_of(OUTSIDE);
    if (fresh) {
        arm();
    }
    ask_all("asking", internet, host);
    if (!fresh) {
        arm();
    }
    for (int i = 0; i < 4; i++) {
        flip();
        ask_all("asking after a change", internet, host);
    }
    disarm();
    for (int i = 0; i < 3; i++) {
        ask_all("asking after the fault", internet, host);
        flip();
    }
    reach_release(internet);
    reach_release(host);
}

/* The link's number is found when the target is made, and never again. */
static void scoped(void)
{
    const reach_flags neighbour = REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT;
    reach_target *target = NULL;
    reach_flags flags = 0;
    bool ok;
    arm();
    for (int i = 0; i < ATTEMPTS && target == NULL; i++) {
        errno = 0;
        IN(target, reach_create_with_name("10.1.0.1%wan0"));
        if (target == NULL) {
            accept_error("making a target with a link's name", errno);
        } else {
            note("making a target with a link's name", "made");
        }
    }
    if (target != NULL) {
        errno = 0;
        IN(ok, reach_get_flags(target, &flags));
        if (!ok) {
            accept_error("asking", errno);
        } else if (flags != neighbour) {
            wrong("the neighbour on wan0 has flags 0x%x", flags);
        } else {
            note("asking", "right");
        }
    }
    disarm();
    if (target == NULL) {
        target = reach_create_with_name("10.1.0.1%wan0");
    }
    if (target == NULL || !reach_get_flags(target, &flags) || flags != neighbour) {
        wrong("after the fault the neighbour on wan0 has flags 0x%x", flags);
    }
    note("asking after the fault", "right");
    reach_release(target);
}

static void ask_fresh(void) { scenario_ask(true); }
static void ask_running(void) { scenario_ask(false); }

/* ----------------------------------------------------------------------------------------- scenarios: queues --- */

static reach_queue *make_queue(bool thread)
{
    reach_queue *queue;
    errno = 0;
    if (thread) {
        IN(queue, reach_queue_create("faults"));
    } else {
        IN(queue, reach_queue_create_manual());
    }
    if (queue != NULL) {
        note("making a queue", "made");
    } else if (armed) {
        accept_error("making a queue", errno);
    } else {
        wrong("a queue cannot be made after the fault: %s", strerrorname_np(errno));
    }
    return queue;
}

static bool schedule(reach_target *target, reach_queue *queue)
{
    bool ok;
    errno = 0;
    IN(ok, reach_set_queue(target, queue));
    if (ok) {
        note("scheduling", "scheduled");
    } else if (armed) {
        accept_error("scheduling", errno);
    } else {
        wrong("scheduling fails after the fault: %s", strerrorname_np(errno));
    }
    return ok;
}

/* Tries again and again while the fault lasts, so that a descriptor that is lost at each try shows in the count. */
static reach_queue *try_queue(bool thread)
{
    reach_queue *queue = NULL;
    for (int i = 0; i < ATTEMPTS && queue == NULL; i++) {
        queue = make_queue(thread);
    }
    return queue;
}

static bool try_schedule(reach_target *target, reach_queue *queue)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (schedule(target, queue)) {
            return true;
        }
    }
    return false;
}

static void scenario_queue(bool thread, bool fresh, const char *name)
{
    struct recorder recorder;
    recorder_init(&recorder);
    reach_target *target;
    reach_queue *queue = NULL;
    bool scheduled = false;

    if (name != NULL) {
        IN(target, reach_create_with_name(name));
    } else {
        target = target_of(OUTSIDE);
    }
    if (target == NULL || !reach_set_callback(target, on_change, &recorder, on_release)) {
        wrong("a target cannot be made: %s", strerrorname_np(errno));
    }

    if (fresh) {
        arm();
        queue = try_queue(thread);
        if (queue != NULL) {
            scheduled = try_schedule(target, queue);
        }
    } else {
        queue = make_queue(thread);
        scheduled = schedule(target, queue);
        if (name != NULL &&
            !wait_for(&recorder, thread ? NULL : queue, events_reached, 1, DEADLINE_MS)) {
            wrong("the callback that is owed for a name did not come");
        }
        arm();
    }

    /* Told in time, or told afterwards: while the fault lasts nothing may be said that is wrong in the end, and nothing
     * needs to be said. The wait is short because nothing hangs on it. */
    if (scheduled) {
        flip();
        bool told = wait_for(&recorder, thread ? NULL : queue, online_is, route_is_there, 200);
        note("a change", told ? "told at once" : "not told during the fault");
        if (name == NULL) {
            ask("asking on a schedule", target);
        }
        storm();
        if (!wait_for(&recorder, thread ? NULL : queue, online_is, route_is_there, 50)) {
            storm();
        }
    }
    disarm();

    if (queue == NULL) {
        queue = make_queue(thread);
    }
    if (!scheduled) {
        schedule(target, queue);
    }
    reach_queue *manual = thread ? NULL : queue;
    if (name != NULL && !heal_name(&recorder, manual)) {
        wrong("after the fault the name was not looked up again, whatever the network did");
    }

    /* The right state, without any further change. A target that was scheduled while nothing changed says nothing. */
    if (scheduled && !wait_for(&recorder, manual, online_is, route_is_there, DEADLINE_MS)) {
        wrong("after the fault the callback never told the state, which is %s (%u events, last 0x%x)",
              route_is_there ? "online" : "offline", recorder.events, recorder.last);
    }
    if (name == NULL) {
        ask("asking after the fault", target);
    } else if (!scheduled && !wait_for(&recorder, manual, online_is, route_is_there, DEADLINE_MS)) {
        wrong("after the fault the name was never looked up");
    }
    for (int i = 0; i < 3; i++) {
        flip();
        if (!wait_for(&recorder, manual, online_is, route_is_there, DEADLINE_MS)) {
            wrong("after the fault a change to %s was not told (%u events, last 0x%x)",
                  route_is_there ? "online" : "offline", recorder.events, recorder.last);
        }
    }
    note("afterwards", "right, and changes are told");

    if (!reach_set_queue(target, NULL) || !reach_queue_flush(queue)) {
        wrong("the end of the schedule fails: %s", strerrorname_np(errno));
    }
    reach_release(target);
    if (!wait_for(&recorder, manual, releases_reached, 1, DEADLINE_MS) || recorder.releases != 1) {
        wrong("info was released %u times", recorder.releases);
    }
    reach_queue_release(queue);
}

static void thread_fresh(void) { scenario_queue(true, true, NULL); }
static void thread_running(void) { scenario_queue(true, false, NULL); }
static void manual_fresh(void) { scenario_queue(false, true, NULL); }
static void manual_running(void) { scenario_queue(false, false, NULL); }
static void name_fresh(void) { scenario_queue(true, true, HOST); }
static void name_running(void) { scenario_queue(false, false, HOST); }

/* -------------------------------------------------------------------------------- scenarios: confirmed answers --- */

static void confirmed(bool online)
{
    struct recorder recorder;
    recorder_init(&recorder);
    reach_target *target = target_of("0.0.0.0");
    reach_queue *queue = make_queue(true);
    uint64_t id = 0;
    unsigned released = 0; /* for each attempt that failed */

    if (route_is_there != online) {
        flip();
    }
    arm();
    for (int i = 0; i < ATTEMPTS && id == 0; i++) {
        errno = 0;
        IN(id, reach_confirm(target, 60000, queue, on_answer, &recorder, on_release));
        if (id == 0) {
            accept_error("asking for a confirmed answer", errno);
            if (recorder.releases != ++released) {
                wrong("info was released %u times in %u failures", recorder.releases, released);
            }
        } else {
            note("asking for a confirmed answer", "accepted");
        }
    }
    if (id != 0 && wait_for(&recorder, NULL, events_reached, 1, 150) && recorder.online && !online) {
        wrong("confirmed as online without a route");
    }
    if (!online) {
        flip();
        (void)wait_for(&recorder, NULL, events_reached, 1, 150);
    }
    disarm();
    if (id == 0) {
        IN(id, reach_confirm(target, 60000, queue, on_answer, &recorder, on_release));
        if (id == 0) {
            wrong("a confirmed answer is refused after the fault: %s", strerrorname_np(errno));
        }
    }
    /* The answer is online in each case: either it was so, or it has become so, a long time before the deadline. */
    if (!wait_for(&recorder, NULL, events_reached, 1, DEADLINE_MS) || !recorder.online || recorder.events != 1 ||
        !wait_for(&recorder, NULL, releases_reached, released + 1, DEADLINE_MS) || recorder.releases != released + 1) {
        wrong("%u confirmed answers, the last %s, %u releases", recorder.events, recorder.online ? "online" : "offline",
              recorder.releases - released);
    }
    note("the confirmed answer", "right");
    reach_release(target);
    reach_queue_release(queue);
}

static void confirm_online(void) { confirmed(true); }
static void confirm_offline(void) { confirmed(false); }

/* Changes the route while the main thread is in reach_wait. */
static void *route_appears(void *unused)
{
    (void)unused;
    poll(NULL, 0, 30);
    (void)default_route_set(&default_route, true);
    return NULL;
}

static void waiting(void)
{
    reach_target *target = target_of("0.0.0.0");
    reach_flags flags = 0xdeadbeef;
    bool ok;

    if (route_is_there) {
        flip();
    }
    arm();
    for (int i = 0; i < ATTEMPTS; i++) {
        errno = 0;
        flags = 0xdeadbeef;
        IN(ok, reach_wait(target, 10, &flags));
        if (ok) {
            wrong("waited for, and online, without a route");
        }
        if (errno == ETIMEDOUT) {
            note("waiting", "offline");
            if (flags != 0) {
                wrong("still offline with flags 0x%x", flags);
            }
            break;
        }
        accept_error("waiting", errno);
        if (flags != 0xdeadbeef) {
            wrong("waiting failed and flags were written");
        }
    }
    pthread_t helper;
    pthread_create(&helper, NULL, route_appears, NULL);
    errno = 0;
    IN(ok, reach_wait(target, 300, &flags));
    int error = errno;
    pthread_join(helper, NULL);
    route_is_there = true;
    if (ok) {
        note("waiting for a change", "online");
    } else if (error == ETIMEDOUT) {
        /* The deadline's answer is a question of its own: it says what the kernel said then. */
        wrong("the deadline said offline, with a route that had been there for long");
    } else {
        accept_error("waiting for a change", error);
    }
    disarm();
    IN(ok, reach_wait(target, DEADLINE_MS, &flags));
    if (!ok || flags != ONLINE) {
        wrong("waiting fails after the fault: %s", strerrorname_np(errno));
    }
    flip();
    IN(ok, reach_wait(target, 0, &flags));
    if (ok || errno != ETIMEDOUT || flags != 0) {
        wrong("not waiting gives %d, %s, 0x%x after the fault", ok, strerrorname_np(errno), flags);
    }
    note("afterwards", "right");
    reach_release(target);
}

/* --------------------------------------------------------------------------------------- scenarios: monitors --- */

static void monitored(bool fresh)
{
    struct recorder recorder;
    recorder_init(&recorder);
    reach_monitor *monitor = NULL;
    reach_queue *queue = make_queue(true);
    uint64_t id = 0;

    IN(id, reach_monitor_add_observer(NULL, queue, on_status, &recorder, on_release));
    if (id == 0) {
        wrong("an observer of all monitors is refused: %s", strerrorname_np(errno));
    }
    if (fresh) {
        arm();
    }
    for (int i = 0; i < ATTEMPTS && monitor == NULL; i++) {
        errno = 0;
        IN(monitor, reach_monitor_create(HOST));
        if (monitor == NULL) {
            accept_error("making a monitor", errno);
        } else {
            note("making a monitor", "made");
        }
    }
    if (!fresh) {
        if (!wait_for(&recorder, NULL, online_is, route_is_there, DEADLINE_MS)) {
            wrong("the monitor has no first status");
        }
        arm();
    }
    if (monitor != NULL) {
        flip();
        bool told = wait_for(&recorder, NULL, online_is, route_is_there, 200);
        note("a status", told ? "told at once" : "not told during the fault");
        storm();
    }
    disarm();
    if (monitor == NULL) {
        IN(monitor, reach_monitor_create(HOST));
        if (monitor == NULL) {
            wrong("a monitor cannot be made after the fault: %s", strerrorname_np(errno));
        }
    }
    if (!heal_name(&recorder, NULL)) {
        wrong("after the fault the host was not looked up again, whatever the network did");
    }
    for (int i = 0; i < 3; i++) {
        if (!wait_for(&recorder, NULL, online_is, route_is_there, DEADLINE_MS)) {
            wrong("after the fault the monitor never said %s (%u events)", route_is_there ? "online" : "offline",
                  recorder.events);
        }
        /* What was told last may have been told before the last change; the status then follows. */
        reach_status status, truth_now = route_is_there ? REACH_STATUS_VIA_WIFI : REACH_STATUS_NOT_REACHABLE;
        int64_t end = now_ms() + DEADLINE_MS;
        while ((status = reach_monitor_get_status(monitor)) != truth_now && now_ms() < end) {
            poll(NULL, 0, 1);
        }
        if (status != truth_now) {
            wrong("after the fault the status is %d", status);
        }
        flip();
    }
    note("afterwards", "right, and changes are told");
    if (!reach_monitor_remove_observer(id)) {
        wrong("the observer cannot be removed: %s", strerrorname_np(errno));
    }
    reach_monitor_release(monitor);
    if (!wait_for(&recorder, NULL, releases_reached, 1, DEADLINE_MS) || recorder.releases != 1) {
        wrong("info was released %u times", recorder.releases);
    }
    reach_queue_release(queue);
}

static void monitor_fresh(void) { monitored(true); }
static void monitor_running(void) { monitored(false); }

/* ------------------------------------------------------------------------------------------- random operations --- */

static uint64_t random_state;

static unsigned pick(unsigned below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state % below);
}

#define TARGETS 6
#define QUEUES 3

/* Silence after this means that it is as it was now; but a name always says something first. */
static bool schedule_from_here(reach_target *target, reach_queue *queue, struct recorder *recorder, bool is_name)
{
    pthread_mutex_lock(&recorder->mutex);
    recorder->is_known = !is_name;
    recorder->online = route_is_there;
    pthread_mutex_unlock(&recorder->mutex);
    return schedule(target, queue);
}

static void random_run(uint64_t seed, unsigned steps, unsigned per_mille)
{
    static struct recorder recorders[TARGETS];
    reach_target *targets[TARGETS];
    reach_queue *queues[QUEUES] = { NULL };
    int queue_of[TARGETS];
    bool ok;

    random_faults = true;
    random_state = seed * 2 + 1;
    for (int i = 0; i < TARGETS; i++) {
        recorder_init(&recorders[i]);
        targets[i] = i == 0 ? target_of("0.0.0.0") : i == 1 ? reach_create_with_name(HOST) : target_of(OUTSIDE);
        if (!reach_set_callback(targets[i], on_change, &recorders[i], on_release)) {
            wrong("a callback cannot be set");
        }
        queue_of[i] = -1;
    }
    armed = true;
    faults_arm_random(seed, per_mille);
    for (unsigned step = 0; step < steps; step++) {
        unsigned t = pick(TARGETS), q = pick(QUEUES), what = pick(10);
        if (getenv("FAULTS_TRACE") != NULL) {
            fprintf(stderr, "step %u: operation %u, target %u on queue %d, queue %u, the route is %s\n", step, what, t,
                    queue_of[t], q, route_is_there ? "there" : "gone");
        }
        switch (what) {
        case 0:
        case 1:
            flip();
            break;
        case 2:
            if (queues[q] == NULL) {
                queues[q] = make_queue(q != 0);
            }
            break;
        case 3:
        case 4:
            if (queues[q] != NULL && queue_of[t] < 0) {
                queue_of[t] = schedule_from_here(targets[t], queues[q], &recorders[t], t == 1) ? (int)q : -1;
            }
            break;
        case 5:
            if (queue_of[t] >= 0) {
                IN(ok, reach_set_queue(targets[t], NULL));
                if (!ok) {
                    wrong("unscheduling fails: %s", strerrorname_np(errno));
                }
                queue_of[t] = -1;
            }
            break;
        case 6:
        case 7:
            if (t != 1) {
                ask("asking", targets[t]);
            }
            break;
        case 8:
            if (queues[0] != NULL) {
                int count;
                IN(count, reach_queue_dispatch(queues[0], 0));
                (void)count;
            }
            break;
        default: {
            reach_flags flags;
            errno = 0;
            IN(ok, reach_wait(targets[t == 1 ? 0 : t], 1, &flags));
            if (ok ? !route_is_there : errno == ETIMEDOUT && route_is_there) {
                wrong("waiting says %s", ok ? "online" : "offline");
            }
            break;
        }
        }
    }
    unsigned fired = faults_fired();
    faults_disarm();
    armed = false;

    for (int i = 0; i < TARGETS; i++) {
        if (queues[i % QUEUES] == NULL) {
            queues[i % QUEUES] = make_queue(i % QUEUES != 0);
        }
        if (queue_of[i] < 0 && schedule_from_here(targets[i], queues[i % QUEUES], &recorders[i], i == 1)) {
            queue_of[i] = i % QUEUES;
        }
        if (i != 1) {
            ask("asking after the faults", targets[i]);
        }
    }
    for (int round = 0; round < 4; round++) {
        if (round > 0) {
            flip();
        }
        for (int i = 0; i < TARGETS; i++) {
            /* Failed look-ups pause for up to a minute, unless the network changes. */
            if (i == 1 && round == 0) {
                continue;
            }
            if (!wait_for(&recorders[i], queue_of[i] == 0 ? queues[0] : NULL, online_is, route_is_there, DEADLINE_MS)) {
                wrong("after the faults target %d on queue %d was not told of a change to %s (%u events, last 0x%x)", i,
                      queue_of[i], route_is_there ? "online" : "offline", recorders[i].events, recorders[i].last);
            }
        }
    }
    for (int i = 0; i < TARGETS; i++) {
        if (!reach_set_queue(targets[i], NULL)) {
            wrong("unscheduling fails at the end: %s", strerrorname_np(errno));
        }
        reach_release(targets[i]);
        if (!wait_for(&recorders[i], NULL, releases_reached, 1, DEADLINE_MS) || recorders[i].releases != 1) {
            wrong("info of target %d was released %u times", i, recorders[i].releases);
        }
    }
    for (int i = 0; i < QUEUES; i++) {
        reach_queue_release(queues[i]);
    }
    printf("fired: %u\n", fired);
}

/* ------------------------------------------------------------------------------------------------------- main --- */

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    { "ask-fresh", ask_fresh },           { "ask-running", ask_running },
    { "scoped", scoped },
    { "thread-fresh", thread_fresh },     { "thread-running", thread_running },
    { "manual-fresh", manual_fresh },     { "manual-running", manual_running },
    { "name-fresh", name_fresh },         { "name-running", name_running },
    { "confirm-online", confirm_online }, { "confirm-offline", confirm_offline },
    { "waiting", waiting },               { "monitor-fresh", monitor_fresh },
    { "monitor-running", monitor_running },
};

int main(int count, char **arguments)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 2 && strcmp(arguments[1], "list") == 0) {
        for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
            puts(scenarios[i].name);
        }
        return 0;
    }
    if (count < 4) {
        fprintf(stderr, "usage: driver SCENARIO FAULT FIRST COUNT\n       driver SCENARIO count FAULT\n"
                        "       driver random SEED STEPS PER_MILLE\n       driver list\n");
        return 2;
    }
    network_start(true);
    int before = descriptors();
    if (strcmp(arguments[1], "random") == 0 && count == 5) {
        random_run(strtoull(arguments[2], NULL, 10), (unsigned)atoi(arguments[3]), (unsigned)atoi(arguments[4]));
    } else {
        only_counting = strcmp(arguments[2], "count") == 0;
        fault = (unsigned)atoi(only_counting ? arguments[3] : arguments[2]);
        if (!only_counting && count == 5) {
            arm_first = (unsigned)atoi(arguments[3]);
            arm_count = (unsigned)atoi(arguments[4]);
        }
        size_t i = 0;
        while (i < sizeof scenarios / sizeof scenarios[0] && strcmp(scenarios[i].name, arguments[1]) != 0) {
            i++;
        }
        if (i == sizeof scenarios / sizeof scenarios[0]) {
            fprintf(stderr, "driver: no scenario %s\n", arguments[1]);
            return 2;
        }
        scenarios[i].run();
    }
    /* The library may keep what belongs to the process (the sockets of reach_get_flags, the monitors' queue), and a
     * queue's thread may not have ended yet. What must not be is one more for each of the failed attempts. */
    int kept = descriptors() - before;
    if (kept >= ATTEMPTS + 2 && strcmp(arguments[1], "random") != 0) {
        wrong("%d descriptors were lost", kept);
    }
    printf("end\n");
    return 0;
}
