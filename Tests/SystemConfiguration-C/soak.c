/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * One target in many hands: while a loop delivers its changes, a thread asks it, a second one sets its callback over
 * and over, and the main thread schedules it, unschedules it and lets the network change. Built with the thread
 * sanitizer.
 */
#include "client.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { rounds = 60, schedules_a_round = 20 };

struct soak {
    SCNetworkReachabilityRef target;
    struct loop_thread *loop;
    int finished;
};

/* A client's info that is freed with its last reference, so that one that is used too late is found. */
struct box {
    int references;
    int callouts;
};

static int boxes;

static struct box *box_create(void)
{
    struct box *box = calloc(1, sizeof *box);

    require(box != NULL);
    box->references = 1;
    (void)__atomic_add_fetch(&boxes, 1, __ATOMIC_RELAXED);
    return box;
}

static const void *box_retain(const void *info)
{
    (void)__atomic_add_fetch(&((struct box *)info)->references, 1, __ATOMIC_RELAXED);
    return info;
}

static void box_release(const void *info)
{
    if (__atomic_sub_fetch(&((struct box *)info)->references, 1, __ATOMIC_ACQ_REL) == 0) {
        free((void *)info);
        (void)__atomic_sub_fetch(&boxes, 1, __ATOMIC_RELAXED);
    }
}

static void box_callout(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    SCNetworkReachabilityFlags now;

    require(SCNetworkReachabilityGetFlags(target, &now));
    require((flags & ~(SCNetworkReachabilityFlags)ONLINE) == 0);
    (void)__atomic_add_fetch(&((struct box *)info)->callouts, 1, __ATOMIC_RELAXED);
}

static bool finished(struct soak *soak)
{
    return __atomic_load_n(&soak->finished, __ATOMIC_ACQUIRE);
}

static void *ask_all_the_time(void *argument)
{
    struct soak *soak = argument;

    while (!finished(soak)) {
        require((ask(soak->target) & ~(SCNetworkReachabilityFlags)ONLINE) == 0);
    }
    return NULL;
}

static void *set_all_the_time(void *argument)
{
    struct soak *soak = argument;

    for (unsigned i = 0; !finished(soak); i++) {
        struct box *box = box_create();
        SCNetworkReachabilityContext context = { 0, box, box_retain, box_release, NULL };

        if (i % 7 == 6) {
            require(SCNetworkReachabilitySetCallback(soak->target, NULL, NULL));
        } else {
            require(SCNetworkReachabilitySetCallback(soak->target, i % 5 == 4 ? NULL : box_callout, &context));
        }
        box_release(box);
    }
    return NULL;
}

static void a_target_is_in_many_hands(void *argument)
{
    struct soak soak = { 0 };
    pthread_t asking, setting;

    (void)argument;
    one_cable();
    soak.target = address_target("0.0.0.0");
    soak.loop = loop_thread_start(kCFRunLoopDefaultMode);
    require_invalid(SCNetworkReachabilityUnscheduleFromRunLoop(soak.target, loop_thread_loop(soak.loop),
                                                               kCFRunLoopDefaultMode));
    require_int(pthread_create(&asking, NULL, ask_all_the_time, &soak), 0);
    require_int(pthread_create(&setting, NULL, set_all_the_time, &soak), 0);
    for (int i = 0; i < rounds; i++) {
        CFRunLoopRef loop = i % 3 == 2 ? CFRunLoopGetCurrent() : loop_thread_loop(soak.loop);

        for (int j = 0; j < schedules_a_round; j++) {
            require(SCNetworkReachabilityScheduleWithRunLoop(soak.target, loop, kCFRunLoopDefaultMode));
            require(SCNetworkReachabilityUnscheduleFromRunLoop(soak.target, loop, kCFRunLoopDefaultMode));
        }
        require(SCNetworkReachabilityScheduleWithRunLoop(soak.target, loop, kCFRunLoopDefaultMode));
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, FALSE);
        require(SCNetworkReachabilityUnscheduleFromRunLoop(soak.target, loop, kCFRunLoopDefaultMode));
    }
    __atomic_store_n(&soak.finished, 1, __ATOMIC_RELEASE);
    pthread_join(asking, NULL);
    pthread_join(setting, NULL);
    loop_thread_stop(soak.loop);
    require(SCNetworkReachabilitySetCallback(soak.target, NULL, NULL));
    CFRelease(soak.target);
    while (__atomic_load_n(&boxes, __ATOMIC_RELAXED) != 0) {
        sched_yield(); /* With a real CoreFoundation, the last callout may be about to end. */
    }
}

/* Targets that come and go on one loop, from several threads. */
static void *come_and_go(void *argument)
{
    CFRunLoopRef loop = loop_thread_loop(((struct soak *)argument)->loop);

    for (int i = 0; i < 200; i++) {
        SCNetworkReachabilityRef target = address_target(i % 2 == 0 ? "0.0.0.0" : "8.8.8.8");
        struct box *box = box_create();
        SCNetworkReachabilityContext context = { 0, box, box_retain, box_release, NULL };

        require(SCNetworkReachabilitySetCallback(target, box_callout, &context));
        box_release(box);
        require(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kCFRunLoopCommonModes));
        require(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode));
        (void)ask(target);
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, TRUE);
        require(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kCFRunLoopCommonModes));
        require(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode));
        CFRelease(target);
    }
    return NULL;
}

static void targets_come_and_go(void *argument)
{
    struct soak soak = { 0 };
    pthread_t threads[3];

    (void)argument;
    one_cable();
    soak.loop = loop_thread_start(kCFRunLoopDefaultMode);
    for (int i = 0; i < 3; i++) {
        require_int(pthread_create(&threads[i], NULL, come_and_go, &soak), 0);
    }
    for (int i = 0; i < rounds; i++) {
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    loop_thread_stop(soak.loop);
    while (__atomic_load_n(&boxes, __ATOMIC_RELAXED) != 0) {
        sched_yield();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(a_target_is_in_many_hands),
        namespace_test(targets_come_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
