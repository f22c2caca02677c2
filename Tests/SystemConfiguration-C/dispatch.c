/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Targets on dispatch queues.
 */
#include "client.h"

#include <dispatch/dispatch.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#ifndef REACH_SC_HAS_DISPATCH
#error "<dispatch/dispatch.h> is there, so SCNetworkReachabilitySetDispatchQueue must be"
#endif

static char on_queue;

static dispatch_queue_t serial_queue(void)
{
    dispatch_queue_t queue = dispatch_queue_create("reach.test", DISPATCH_QUEUE_SERIAL);

    dispatch_queue_set_specific(queue, &on_queue, queue, NULL);
    return queue;
}

static void nothing(void *argument)
{
    (void)argument;
}

static void drain(dispatch_queue_t queue)
{
    dispatch_sync_f(queue, NULL, nothing);
}

static SCNetworkReachabilityRef internet(struct client *client)
{
    SCNetworkReachabilityRef target = address_target("0.0.0.0");

    client_begin(client);
    client_attach(client, target);
    return target;
}

/* The source's cancellation is not waited for by anybody, but it ends. */
static void wait_descriptors(size_t at_most)
{
    int64_t end = now_ms() + deadline_ms();

    while (count_descriptors() > at_most) {
        require_message(now_ms() < end, "%zu descriptors are open, not %zu", count_descriptors(), at_most);
        sched_yield();
    }
}

static void a_target_is_on_one_queue_or_on_run_loops(void *argument)
{
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    SCNetworkReachabilityRef other = (SCNetworkReachabilityRef)(CFTypeRef)CFSTR("no target");
    CFRunLoopRef loop = CFRunLoopGetMain();
    dispatch_queue_t one = serial_queue(), two = serial_queue();

    (void)argument;
    require_invalid(SCNetworkReachabilitySetDispatchQueue(NULL, one));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(other, one));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(other, NULL));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(target, NULL));

    require(SCNetworkReachabilitySetDispatchQueue(target, one));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(target, one));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(target, two));
    require_invalid(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kCFRunLoopDefaultMode));
    require_invalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kCFRunLoopDefaultMode));
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(target, NULL));

    require(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kCFRunLoopDefaultMode));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(target, one));
    require(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kCFRunLoopDefaultMode));
    require(SCNetworkReachabilitySetDispatchQueue(target, two));
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    CFRelease(target);
    dispatch_release(one);
    dispatch_release(two);
}

static void no_queue_takes_a_target_off_its_run_loops_too(void *argument)
{
    struct client client;
    CFRunLoopRef loop = CFRunLoopGetCurrent();

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, loop, kCFRunLoopDefaultMode));
    require(SCNetworkReachabilityScheduleWithRunLoop(target, loop, CFSTR("other")));
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    require_invalid(SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, kCFRunLoopDefaultMode));
    ip(ROUTE_ADD);
    run_due();
    require_int(recorder_count(client.events), 0);
    CFRelease(target);
    require_text(client.log, "+-");
    client_end(&client);
}

static void the_first_schedule_stays_intact(void *argument)
{
    struct client client;
    dispatch_queue_t queue = serial_queue(), other = serial_queue();

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    require_invalid(SCNetworkReachabilitySetDispatchQueue(target, other));
    ip(ROUTE_ADD);
    require_int(next_callout(&client).flags, ONLINE);
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    drain(queue);
    CFRelease(target);
    client_end(&client);
    dispatch_release(queue);
    dispatch_release(other);
}

static void require_on_queue(SCNetworkReachabilityRef target, struct client *client)
{
    (void)target;
    (void)client;
    dispatch_queue_t queue = dispatch_get_specific(&on_queue);
    require(queue != NULL);
    dispatch_assert_queue(queue);
    require_text(dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL), "reach.test");
}

/* The client lets go of its queue at once: the schedule keeps it. */
static void callouts_come_on_the_queue_and_counts_are_even(void *argument)
{
    enum { changes = 6 };
    struct client client;
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = require_on_queue;
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    dispatch_retain(queue);
    dispatch_release(queue);
    require_int(recorder_count(client.events), 0);
    for (int i = 0; i < changes; i++) {
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        struct event event = next_callout(&client);
        require_int(event.flags, i % 2 == 0 ? ONLINE : 0);
        require(event.target == (reach_target *)(void *)target);
        require_int(ask(target), i % 2 == 0 ? ONLINE : 0);
    }
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    drain(queue);
    require_int(client.retained, 1 + changes);
    require_int(client.released, changes);
    CFRelease(target);
    require_int(client.released, 1 + changes);
    require_int(recorder_count(client.events), changes);
    client_end(&client);
    dispatch_release(queue);
}

static void a_callback_may_be_set_before_or_after_the_queue(void *argument)
{
    struct client client;
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    client_begin(&client);
    SCNetworkReachabilityRef target = address_target("::");
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    client_attach(&client, target);
    ip(ROUTE_ADD);
    require_int(next_callout(&client).flags, ONLINE);
    client_detach(target);
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    client_attach(&client, target);
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    ip(ROUTE_DEL);
    require_int(next_callout(&client).flags, 0);
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    drain(queue);
    CFRelease(target);
    client_end(&client);
    dispatch_release(queue);
}

static void tear_down_inside(SCNetworkReachabilityRef target, struct client *client)
{
    (void)client;
    client_detach(target);
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    CFRelease(target);
}

static void everything_can_be_torn_down_inside_the_callback(void *argument)
{
    struct client client;
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = tear_down_inside;
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    ip(ROUTE_ADD);
    next_callout(&client);
    drain(queue);
    require_text(client.log, "++C--");
    client_end(&client);
    dispatch_release(queue);
}

static dispatch_queue_t next_queue;

static void move_inside(SCNetworkReachabilityRef target, struct client *client)
{
    (void)client;
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    require(SCNetworkReachabilitySetDispatchQueue(target, next_queue));
}

static void a_target_can_be_moved_inside_its_callback(void *argument)
{
    struct client client;
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    next_queue = queue;
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = move_inside;
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    for (int i = 0; i < 6; i++) {
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        require_int(next_callout(&client).flags, i % 2 == 0 ? ONLINE : 0);
    }
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    drain(queue);
    require_int(recorder_count(client.events), 6);
    CFRelease(target);
    client_end(&client);
    dispatch_release(queue);
}

static void a_scheduled_target_keeps_itself_alive(void *argument)
{
    struct client client;
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    CFRelease(target);
    ip(ROUTE_ADD);
    require_int(next_callout(&client).flags, ONLINE);
    drain(queue);
    require_text(client.log, "++C-");
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    drain(queue);
    require_text(client.log, "++C--");
    client_end(&client);
    dispatch_release(queue);
}

static void unschedule_on_queue(void *target)
{
    require(SCNetworkReachabilitySetDispatchQueue((SCNetworkReachabilityRef)target, NULL));
}

/* The change has happened when the queue gets to unscheduling; nothing comes after that. */
static void no_callout_begins_after_unscheduling_on_the_queue(void *argument)
{
    struct client client;
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    for (int i = 0; i < 20; i++) {
        require(SCNetworkReachabilitySetDispatchQueue(target, queue));
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        dispatch_sync_f(queue, (void *)target, unschedule_on_queue);
        size_t before = recorder_count(client.events);
        drain(queue);
        require_int(recorder_count(client.events), before);
        require(before <= (size_t)i + 1);
    }
    CFRelease(target);
    client_end(&client);
    dispatch_release(queue);
}

static void all_kinds_of_queues_serve(void *argument)
{
    dispatch_queue_t queues[] = { dispatch_queue_create("reach.concurrent", DISPATCH_QUEUE_CONCURRENT),
                                  dispatch_get_global_queue(0, 0), dispatch_queue_create(NULL, NULL) };

    (void)argument;
    one_cable();
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        struct client client;
        SCNetworkReachabilityRef target = internet(&client);

        require(SCNetworkReachabilitySetDispatchQueue(target, queues[i]));
        ip(ROUTE_ADD);
        require_int(next_callout(&client).flags, ONLINE);
        ip(ROUTE_DEL);
        require_int(next_callout(&client).flags, 0);
        require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
        CFRelease(target);
        /* A callout ends after it was heard of, and on these queues nothing comes only after it. */
        client_wait_released(&client, 3);
        client_end(&client);
    }
    dispatch_release(queues[0]);
    dispatch_release(queues[2]);
}

static void many_targets_share_a_queue(void *argument)
{
    enum { count = 20 };
    struct client clients[count];
    SCNetworkReachabilityRef targets[count];
    dispatch_queue_t queue = serial_queue();

    (void)argument;
    one_cable();
    size_t descriptors = count_descriptors();
    for (int i = 0; i < count; i++) {
        targets[i] = internet(&clients[i]);
        clients[i].in_callout = require_on_queue;
        require(SCNetworkReachabilitySetDispatchQueue(targets[i], queue));
    }
    ip(ROUTE_ADD);
    for (int i = 0; i < count; i++) {
        require_int(next_callout(&clients[i]).flags, ONLINE);
    }
    for (int i = 0; i < count; i++) {
        require(SCNetworkReachabilitySetDispatchQueue(targets[i], NULL));
        CFRelease(targets[i]);
    }
    drain(queue);
    for (int i = 0; i < count; i++) {
        require_text(clients[i].log, "++C--");
        client_end(&clients[i]);
    }
    /* libdispatch may have opened some for itself, but not for each target. */
    wait_descriptors(descriptors + count - 1);
    dispatch_release(queue);
}

static void descriptors_are_closed(void *argument)
{
    dispatch_queue_t queue = serial_queue();
    SCNetworkReachabilityRef target = address_target("0.0.0.0");

    (void)argument;
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    drain(queue);
    require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    size_t scheduled = count_descriptors();
    for (int i = 0; i < 100; i++) {
        require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
        require(SCNetworkReachabilitySetDispatchQueue(target, queue));
    }
    wait_descriptors(scheduled);
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    CFRelease(target);
    dispatch_release(queue);
}

/* A change that comes while SetCallback stands between two contexts is not lost. */
static SCNetworkReachabilityRef window_target;
static dispatch_queue_t window_queue;

static void change_meanwhile(const void *info)
{
    struct client *client = (struct client *)info;
    bool missed = false;

    ip(ROUTE_ADD);
    while (!missed) {
        drain(window_queue);
        pthread_mutex_lock((pthread_mutex_t *)&window_target->lock);
        missed = window_target->missed;
        pthread_mutex_unlock((pthread_mutex_t *)&window_target->lock);
    }
    require_int(recorder_count(client->events), 0);
}

static void no_change_is_lost_while_a_context_is_replaced(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    client.in_callout = require_on_queue;
    window_queue = serial_queue();
    window_target = address_target("0.0.0.0");
    SCNetworkReachabilityContext context = { 0, &client, NULL, change_meanwhile, NULL };
    require(SCNetworkReachabilitySetCallback(window_target, NULL, &context));
    require(SCNetworkReachabilitySetDispatchQueue(window_target, window_queue));
    client_attach(&client, window_target);
    require_int(next_callout(&client).flags, ONLINE);
    require(SCNetworkReachabilitySetDispatchQueue(window_target, NULL));
    drain(window_queue);
    CFRelease(window_target);
    require_text(client.log, "++C--");
    client_end(&client);
    dispatch_release(window_queue);
}

/* A delivery that SetCallback has put off runs on a concurrent queue, and while it does the network changes again. A
 * second target hears of that, on the same queue; the first must not, before its callout has ended. */
static struct client overlap_witness;
static int overlap_inside;
static int overlap_most;

static void change_again_inside(SCNetworkReachabilityRef target, struct client *client)
{
    int inside = __atomic_add_fetch(&overlap_inside, 1, __ATOMIC_SEQ_CST);

    (void)target;
    if (inside > __atomic_load_n(&overlap_most, __ATOMIC_SEQ_CST)) {
        __atomic_store_n(&overlap_most, inside, __ATOMIC_SEQ_CST);
    }
    if (inside == 1 && recorder_count(client->events) == 0) {
        require_int(next_callout(&overlap_witness).flags, ONLINE);
        for (int i = 0; i < 20; i++) {
            ip(i % 2 == 0 ? ROUTE_DEL : ROUTE_ADD);
            require_int(next_callout(&overlap_witness).flags, i % 2 == 0 ? 0 : ONLINE);
        }
        ip(ROUTE_DEL);
    }
    __atomic_sub_fetch(&overlap_inside, 1, __ATOMIC_SEQ_CST);
}

static void callouts_do_not_overlap_on_a_concurrent_queue(void *argument)
{
    struct client client;
    dispatch_queue_t queue = dispatch_queue_create("reach.concurrent", DISPATCH_QUEUE_CONCURRENT);

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef witness = internet(&overlap_witness);
    require(SCNetworkReachabilitySetDispatchQueue(witness, queue));
    client_begin(&client);
    client.in_callout = change_again_inside;
    window_queue = queue;
    window_target = address_target("8.8.8.8");
    SCNetworkReachabilityContext context = { 0, &client, NULL, change_meanwhile, NULL };
    require(SCNetworkReachabilitySetCallback(window_target, NULL, &context));
    require(SCNetworkReachabilitySetDispatchQueue(window_target, queue));
    client_attach(&client, window_target);
    struct event first = next_callout(&client), second = next_callout(&client);
    require_int(overlap_most, 1);
    require_int(first.flags, ONLINE);
    require_int(second.flags, 0);
    require_int(next_callout(&overlap_witness).flags, 0);
    require(SCNetworkReachabilitySetDispatchQueue(window_target, NULL));
    require(SCNetworkReachabilitySetDispatchQueue(witness, NULL));
    CFRelease(window_target);
    CFRelease(witness);
    /* A callout ends after it was heard of. */
    client_wait_released(&client, 3);
    client_wait_released(&overlap_witness, 23);
    client_end(&overlap_witness);
    client_end(&client);
    dispatch_release(queue);
}

static void stop_main_loop(SCNetworkReachabilityRef target, struct client *client)
{
    (void)target;
    (void)client;
    require_int(gettid(), getpid());
    CFRunLoopStop(CFRunLoopGetMain());
}

static void the_main_queue_is_served_by_the_main_run_loop(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = stop_main_loop;
    require(SCNetworkReachabilitySetDispatchQueue(target, dispatch_get_main_queue()));
    ip(ROUTE_ADD);
    CFRunLoopRun();
    require_int(next_callout(&client).flags, ONLINE);
    ip(ROUTE_DEL);
    CFRunLoopRun();
    require_int(next_callout(&client).flags, 0);
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    CFRelease(target);
    client_end(&client);
}

static void pass(SCNetworkReachabilityRef target, struct client *client)
{
    (void)client;
    require(SCNetworkReachabilitySetDispatchQueue(target, NULL));
    _exit(0);
}

static void *change_route(void *argument)
{
    (void)argument;
    ip(ROUTE_ADD);
    return NULL;
}

/* The main queue is something to wait for, and is not entered again from inside. */
static int nested_result;

static void run_nested(void *argument)
{
    (void)argument;
    nested_result = CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, FALSE);
}

static void the_main_run_loop_waits_for_the_main_queue(void *argument)
{
    (void)argument;
    require_int(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.001, FALSE), kCFRunLoopRunTimedOut);
    require_int(CFRunLoopRunInMode(CFSTR("not common"), 10, FALSE), kCFRunLoopRunFinished);
    dispatch_async_f(dispatch_get_main_queue(), NULL, run_nested);
    while (nested_result == 0) {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0.001, FALSE);
    }
    require_int(nested_result, kCFRunLoopRunFinished);
}

static void the_main_queue_is_served_by_dispatch_main(void *argument)
{
    static struct client client;
    pthread_t thread;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = pass;
    require(SCNetworkReachabilitySetDispatchQueue(target, dispatch_get_main_queue()));
    require_int(pthread_create(&thread, NULL, change_route, NULL), 0);
    require_int(pthread_detach(thread), 0);
    dispatch_main();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(a_target_is_on_one_queue_or_on_run_loops),
        process_test(descriptors_are_closed),
        process_test(the_main_run_loop_waits_for_the_main_queue),
        namespace_test(no_queue_takes_a_target_off_its_run_loops_too),
        namespace_test(the_first_schedule_stays_intact),
        namespace_test(callouts_come_on_the_queue_and_counts_are_even),
        namespace_test(a_callback_may_be_set_before_or_after_the_queue),
        namespace_test(everything_can_be_torn_down_inside_the_callback),
        namespace_test(a_target_can_be_moved_inside_its_callback),
        namespace_test(a_scheduled_target_keeps_itself_alive),
        namespace_test(no_callout_begins_after_unscheduling_on_the_queue),
        namespace_test(all_kinds_of_queues_serve),
        namespace_test(many_targets_share_a_queue),
        namespace_test(no_change_is_lost_while_a_context_is_replaced),
        namespace_test(callouts_do_not_overlap_on_a_concurrent_queue),
        namespace_test(the_main_queue_is_served_by_the_main_run_loop),
        namespace_test(the_main_queue_is_served_by_dispatch_main),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
