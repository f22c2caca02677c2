/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Targets on run loops.
 *
 * With a real CoreFoundation the loops are its own, and targets are evaluated by a thread. So tests that are about the
 * loops themselves are left out then, and those that rely on nobody looking before the loop runs.
 */
#include "client.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define MODE kCFRunLoopDefaultMode

static CFRunLoopRef here(void)
{
    return CFRunLoopGetCurrent();
}

static Boolean schedule(SCNetworkReachabilityRef target, CFRunLoopRef loop, CFStringRef mode)
{
    return SCNetworkReachabilityScheduleWithRunLoop(target, loop, mode);
}

static Boolean unschedule(SCNetworkReachabilityRef target, CFRunLoopRef loop, CFStringRef mode)
{
    return SCNetworkReachabilityUnscheduleFromRunLoop(target, loop, mode);
}

static SCNetworkReachabilityRef internet(struct client *client)
{
    SCNetworkReachabilityRef target = address_target("0.0.0.0");

    client_begin(client);
    client_attach(client, target);
    return target;
}

static void finish(SCNetworkReachabilityRef target, struct client *client)
{
    CFRelease(target);
#ifdef REACH_USE_COREFOUNDATION
    /* The thread that evaluates may be about to let go of the target. */
    client_wait_released(client, client->retained);
#endif
    require_int(client->retained, client->released);
    client_end(client);
}

static void arguments_are_checked(void *argument)
{
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    SCNetworkReachabilityRef other = (SCNetworkReachabilityRef)(CFTypeRef)CFSTR("no target");

    (void)argument;
    require_invalid(schedule(NULL, here(), MODE));
    require_invalid(schedule(other, here(), MODE));
    require_invalid(schedule(target, NULL, MODE));
    require_invalid(schedule(target, here(), NULL));
    require_invalid(unschedule(NULL, here(), MODE));
    require_invalid(unschedule(other, here(), MODE));
    require_invalid(unschedule(target, NULL, MODE));
    require_invalid(unschedule(target, here(), NULL));
    CFRelease(target);
}

static void what_is_not_scheduled_cannot_be_unscheduled(void *argument)
{
    SCNetworkReachabilityRef target = address_target("0.0.0.0");

    (void)argument;
    require_invalid(unschedule(target, here(), MODE));
    require(schedule(target, here(), MODE));
    require(unschedule(target, here(), MODE));
    require_invalid(unschedule(target, here(), MODE));
    CFRelease(target);
}

static void unscheduling_from_elsewhere_does_nothing(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    struct loop_thread *thread = loop_thread_start(MODE);
    require(schedule(target, here(), MODE));
    require(unschedule(target, here(), CFSTR("another mode")));
    require(unschedule(target, loop_thread_loop(thread), MODE));
    ip(ROUTE_ADD);
    run_until(&client, 1);
    require(unschedule(target, here(), MODE));
    loop_thread_stop(thread);
    finish(target, &client);
}

static void schedules_are_counted(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), MODE));
    require(schedule(target, here(), MODE));
    require(unschedule(target, here(), MODE));
    ip(ROUTE_ADD);
    run_until(&client, 1);
    run_due();
    require_int(recorder_count(client.events), 1);
    require(unschedule(target, here(), MODE));
    require_invalid(unschedule(target, here(), MODE));
    ip(ROUTE_DEL);
    require_int(CFRunLoopRunInMode(MODE, 0, FALSE), kCFRunLoopRunFinished);
    require_int(recorder_count(client.events), 1);
    finish(target, &client);
}

static void one_loop_delivers_for_all(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    struct loop_thread *one = loop_thread_start(MODE), *other = loop_thread_start(MODE);
    require(schedule(target, loop_thread_loop(one), MODE));
    require(schedule(target, loop_thread_loop(other), MODE));
    for (int i = 0; i < 10; i++) {
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        struct event event = next_callout(&client);
        require_int(event.flags, i % 2 == 0 ? ONLINE : 0);
        require(event.thread == loop_thread_id(one) || event.thread == loop_thread_id(other));
        require_int(recorder_pending(client.events), 0);
    }
    /* Off the loop whose queue it was put on first: the other goes on alone. */
    require(unschedule(target, loop_thread_loop(one), MODE));
    ip(ROUTE_ADD);
    struct event event = next_callout(&client);
    require_int(event.flags, ONLINE);
    require_int(event.thread, loop_thread_id(other));
    require(unschedule(target, loop_thread_loop(other), MODE));
    require_invalid(unschedule(target, loop_thread_loop(other), MODE));
    require_int(recorder_count(client.events), 11);
    loop_thread_stop(one);
    loop_thread_stop(other);
    finish(target, &client);
}

/* The first loop never runs, so the second must see to its queue. */
static void a_waiting_loop_delivers_rather_than_an_idle_one(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), MODE));
    struct loop_thread *thread = loop_thread_start(MODE);
    require(schedule(target, loop_thread_loop(thread), MODE));
    ip(ROUTE_ADD);
    struct event event = next_callout(&client);
    require_int(event.flags, ONLINE);
    require_int(event.thread, loop_thread_id(thread));
    run_due();
    require_int(recorder_count(client.events), 1);
    CFRunLoopRef loop = loop_thread_loop(thread);
    loop_thread_stop(thread);

    /* Its thread is gone, its schedule is not: this loop delivers now, and the other still counts. */
    ip(ROUTE_DEL);
    run_until(&client, 2);
    require_int(next_callout(&client).flags, 0);
    require(unschedule(target, here(), MODE));
    require(unschedule(target, loop, MODE));
    require_invalid(unschedule(target, loop, MODE));
    finish(target, &client);
}

/* Two targets were first put on this loop, which does not run, and each is on another that does. Whichever of the two
 * sees to this loop's queue has to wake the other one up. */
static void loops_wake_each_other_up(void *argument)
{
    struct client first, second;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef one = internet(&first), other = internet(&second);
    struct loop_thread *thread_one = loop_thread_start(MODE), *thread_other = loop_thread_start(MODE);
    require(schedule(one, here(), MODE));
    require(schedule(other, here(), MODE));
    require(schedule(one, loop_thread_loop(thread_one), MODE));
    require(schedule(other, loop_thread_loop(thread_other), MODE));
    for (int i = 0; i < 100; i++) {
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        struct event event = next_callout(&first), other_event = next_callout(&second);
        require_int(event.thread, loop_thread_id(thread_one));
        require_int(other_event.thread, loop_thread_id(thread_other));
        require_int(event.flags, i % 2 == 0 ? ONLINE : 0);
        require_int(other_event.flags, event.flags);
    }
    require(unschedule(one, here(), MODE));
    require(unschedule(other, here(), MODE));
    require(unschedule(one, loop_thread_loop(thread_one), MODE));
    require(unschedule(other, loop_thread_loop(thread_other), MODE));
    loop_thread_stop(thread_one);
    loop_thread_stop(thread_other);
    finish(one, &first);
    finish(other, &second);
}

static void callouts_come_only_in_the_modes_of_the_schedule(void *argument)
{
    CFStringRef special = CFSTR("special"), common = CFSTR("made common");
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), special));
    ip(ROUTE_ADD);
    require_int(CFRunLoopRunInMode(MODE, 0, FALSE), kCFRunLoopRunFinished);
    require_int(CFRunLoopRunInMode(common, 0, FALSE), kCFRunLoopRunFinished);
    require_int(recorder_count(client.events), 0);
    require_int(CFRunLoopRunInMode(special, 10, TRUE), kCFRunLoopRunHandledSource);
    require_int(recorder_count(client.events), 1);
    require(unschedule(target, here(), special));

    require(schedule(target, here(), kCFRunLoopCommonModes));
    ip(ROUTE_DEL);
    require_int(CFRunLoopRunInMode(common, 0, FALSE), kCFRunLoopRunFinished);
    require_int(CFRunLoopRunInMode(MODE, 10, TRUE), kCFRunLoopRunHandledSource);
    require_int(recorder_count(client.events), 2);
    CFRunLoopAddCommonMode(here(), common);
    ip(ROUTE_ADD);
    require_int(CFRunLoopRunInMode(common, 10, TRUE), kCFRunLoopRunHandledSource);
    require_int(recorder_count(client.events), 3);

    /* In two modes at once, a change is delivered in the first one that runs, once. */
    require(schedule(target, here(), special));
    ip(ROUTE_DEL);
    require_int(CFRunLoopRunInMode(special, 10, TRUE), kCFRunLoopRunHandledSource);
    require_int(CFRunLoopRunInMode(MODE, 0, FALSE), kCFRunLoopRunTimedOut);
    require_int(recorder_count(client.events), 4);
    require(unschedule(target, here(), special));
    require(unschedule(target, here(), kCFRunLoopCommonModes));
    require_invalid(unschedule(target, here(), kCFRunLoopCommonModes));
    finish(target, &client);
}

static void a_target_can_be_scheduled_again_at_once(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    struct loop_thread *thread = loop_thread_start(MODE);
    for (int i = 0; i < 5; i++) {
        require(schedule(target, here(), MODE));
        require(unschedule(target, here(), MODE));
        require(schedule(target, loop_thread_loop(thread), MODE));
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        require_int(next_callout(&client).thread, loop_thread_id(thread));
        require(unschedule(target, loop_thread_loop(thread), MODE));
    }
    loop_thread_stop(thread);
    finish(target, &client);
}

static CFRunLoopRef move_to;

static void move_inside(SCNetworkReachabilityRef target, struct client *client)
{
    client->in_callout = NULL;
    require(unschedule(target, here(), MODE));
    require(schedule(target, move_to, MODE));
}

static void a_target_can_be_moved_inside_its_callback(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    struct loop_thread *thread = loop_thread_start(MODE);
    move_to = loop_thread_loop(thread);
    client.in_callout = move_inside;
    require(schedule(target, here(), MODE));
    ip(ROUTE_ADD);
    run_until(&client, 1);
    require_int(next_callout(&client).thread, getpid());
    ip(ROUTE_DEL);
    require_int(next_callout(&client).thread, loop_thread_id(thread));

    /* And onto the same loop again. */
    require(unschedule(target, move_to, MODE));
    move_to = here();
    client.in_callout = move_inside;
    require(schedule(target, here(), MODE));
    ip(ROUTE_ADD);
    run_until(&client, 3);
    ip(ROUTE_DEL);
    run_until(&client, 4);
    require(unschedule(target, here(), MODE));
    loop_thread_stop(thread);
    finish(target, &client);
}

static void a_callback_can_be_set_after_scheduling(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    SCNetworkReachabilityRef target = address_target("::");
    require(schedule(target, here(), MODE));
    ip(ROUTE_ADD);
    require_int(CFRunLoopRunInMode(MODE, 10, TRUE), kCFRunLoopRunHandledSource);
    client_attach(&client, target);
    run_due();
    require_int(recorder_count(client.events), 0);
    ip(ROUTE_DEL);
    run_until(&client, 1);
    require_int(next_callout(&client).flags, 0);
    require(unschedule(target, here(), MODE));
    finish(target, &client);
}

/* Of all kinds of target but names: the first callback is for the first difference. */
static void addresses_get_no_first_callback(void *argument)
{
    static const struct {
        const char *local, *remote, *name;
        SCNetworkReachabilityFlags flags;
    } cases[] = { { NULL, "0.0.0.0", NULL, ONLINE }, { NULL, "::", NULL, ONLINE },
                  { NULL, "8.8.8.8", NULL, ONLINE }, { NULL, NULL, "8.8.8.8", ONLINE },
                  { NULL, NULL, "0.0.0.0", ONLINE }, { "10.1.0.2", "8.8.8.8", NULL, ONLINE } };

    (void)argument;
    one_cable();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sockaddr_storage local, remote;
        struct client client;
        SCNetworkReachabilityRef target;

        if (cases[i].name != NULL) {
            target = SCNetworkReachabilityCreateWithName(NULL, cases[i].name);
        } else if (cases[i].local == NULL) {
            target = address_target(cases[i].remote);
        } else {
            parse_address(cases[i].local, &local);
            parse_address(cases[i].remote, &remote);
            target = SCNetworkReachabilityCreateWithAddressPair(NULL, (struct sockaddr *)&local,
                                                                (struct sockaddr *)&remote);
        }
        require(target != NULL);
        client_begin(&client);
        client_attach(&client, target);
        require(schedule(target, here(), MODE));
        run_due();
        require_int(recorder_count(client.events), 0);
        ip(ROUTE_ADD);
        run_until(&client, 1);
        require_int(next_callout(&client).flags, cases[i].flags);
        require_int(ask(target), cases[i].flags);
        ip(ROUTE_DEL);
        run_until(&client, 2);
        require_int(next_callout(&client).flags, 0);
        require(unschedule(target, here(), MODE));
        finish(target, &client);
    }
}

static void flags_are_there_right_after_scheduling_and_after_unscheduling(void *argument)
{
    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    require(schedule(target, here(), MODE));
    require_int(ask(target), 0);
    /* No loop has run yet: unlike Apple's, the answer is never an old one. */
    ip(ROUTE_ADD);
    require_int(ask(target), ONLINE);
    require(unschedule(target, here(), MODE));
    require_int(ask(target), ONLINE);
    ip(ROUTE_DEL);
    require_int(ask(target), 0);
    CFRelease(target);
}

/* Another way out with the same flags is a change; what is of no consequence is not. */
static void the_interface_counts_and_other_changes_do_not(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    veth("wan1", "10.2.0.2/24");
    ip(ROUTE_ADD " metric 10");
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), MODE));
    ip("route add 192.0.2.0/24 via 10.1.0.1");
    ip("address add 10.1.0.3/24 dev wan0");
    ip("route add default via 10.2.0.1 dev wan1 metric 20");
    run_due();
    require_int(recorder_count(client.events), 0);
    ip("route del default via 10.1.0.1 dev wan0 metric 10");
    run_until(&client, 1);
    require_int(next_callout(&client).flags, ONLINE);
    ip("route del default via 10.2.0.1 dev wan1 metric 20");
    run_until(&client, 2);
    require_int(next_callout(&client).flags, 0);
    require(unschedule(target, here(), MODE));
    finish(target, &client);
}

static void callouts_come_on_the_loops_thread_while_it_runs(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), MODE));
    ip(ROUTE_ADD);
    /* A loop that runs on another thread has nothing to do with it. */
    struct loop_thread *thread = loop_thread_start(MODE);
    loop_thread_stop(thread);
    require_int(recorder_count(client.events), 0);
    run_until(&client, 1);
    require_int(next_callout(&client).thread, getpid());
    require(unschedule(target, here(), MODE));
    finish(target, &client);
}

static void changes_before_the_loop_runs_come_as_one(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), MODE));
    for (int i = 0; i < 3; i++) {
        ip(ROUTE_ADD);
        ip(ROUTE_DEL);
    }
    ip(ROUTE_ADD);
    run_until(&client, 1);
    require_int(next_callout(&client).flags, ONLINE);
    run_due();
    require_int(recorder_count(client.events), 1);

    /* There and back again before anybody looked is no change. */
    ip(ROUTE_DEL);
    ip(ROUTE_ADD);
    run_due();
    require_int(recorder_count(client.events), 1);
    ip(ROUTE_DEL);
    run_until(&client, 2);
    require_int(next_callout(&client).flags, 0);
    require(unschedule(target, here(), MODE));
    finish(target, &client);
}

/* The flags are those of the delivery: a second loop signals, and this one delivers later. */
static void flags_are_those_of_the_delivery(void *argument)
{
    struct client client, witness;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client), other = internet(&witness);
    require(schedule(target, here(), CFSTR("later")));
    require(schedule(other, here(), MODE));
    ip(ROUTE_ADD);
    run_until(&witness, 1); /* The queue has been looked at, so the target is signalled. */
    ip(ROUTE_DEL);
    require_int(CFRunLoopRunInMode(CFSTR("later"), 10, TRUE), kCFRunLoopRunHandledSource);
    require_int(next_callout(&client).flags, 0);
    require_int(CFRunLoopRunInMode(CFSTR("later"), 0, FALSE), kCFRunLoopRunTimedOut);
    require_int(recorder_count(client.events), 1);
    require(unschedule(target, here(), CFSTR("later")));
    require(unschedule(other, here(), MODE));
    finish(target, &client);
    finish(other, &witness);
}

static bool undone;

static void undo_once(SCNetworkReachabilityRef target, struct client *client)
{
    (void)target;
    (void)client;
    if (!undone) {
        undone = true;
        ip(ROUTE_DEL);
    }
}

/* The same within one turn of the loop: the first callout undoes what the second was signalled for. */
static void flags_are_those_of_the_delivery_within_a_turn(void *argument)
{
    struct client first, second;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef one = internet(&first), other = internet(&second);
    first.in_callout = undo_once;
    second.in_callout = undo_once;
    require(schedule(one, here(), MODE));
    require(schedule(other, here(), MODE));
    ip(ROUTE_ADD);
    while (recorder_count(first.events) == 0 || recorder_count(second.events) == 0) {
        CFRunLoopRunInMode(MODE, (double)deadline_ms() / 1000, TRUE);
    }
    require_int(next_callout(&first).flags + next_callout(&second).flags, ONLINE);
    require(unschedule(one, here(), MODE));
    require(unschedule(other, here(), MODE));
    finish(one, &first);
    finish(other, &second);
}

static void what_was_signalled_before_unscheduling_is_dropped(void *argument)
{
    struct client client, witness;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client), other = internet(&witness);
    require(schedule(target, here(), CFSTR("later")));
    require(schedule(other, here(), MODE));
    ip(ROUTE_ADD);
    run_until(&witness, 1);
    require(unschedule(target, here(), CFSTR("later")));
    require_int(CFRunLoopRunInMode(CFSTR("later"), 0, FALSE), kCFRunLoopRunFinished);
    require(schedule(target, here(), CFSTR("later")));
    require_int(CFRunLoopRunInMode(CFSTR("later"), 0, FALSE), kCFRunLoopRunTimedOut);
    require_int(recorder_count(client.events), 0);
    require(unschedule(target, here(), CFSTR("later")));
    require(unschedule(other, here(), MODE));
    finish(target, &client);
    finish(other, &witness);
}

static void a_scheduled_target_keeps_itself_alive(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    require(schedule(target, here(), MODE));
    CFRelease(target);
    ip(ROUTE_ADD);
    run_until(&client, 1);
    require(next_callout(&client).target == (reach_target *)(void *)target);
    require_int(client.released, 1);
    require(unschedule(target, here(), MODE));
    require_int(client.released, 2);
    client_end(&client);
}

static void tear_down_inside(SCNetworkReachabilityRef target, struct client *client)
{
    (void)client;
    require_int(ask(target), ONLINE);
    client_detach(target);
    require(unschedule(target, here(), MODE));
    CFRelease(target);
}

static void everything_can_be_torn_down_inside_the_callback(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = tear_down_inside;
    require(schedule(target, here(), MODE));
    ip(ROUTE_ADD);
    CFRunLoopRun(); /* It ends by itself, as nothing is left in the mode. */
    require_int(recorder_count(client.events), 1);
    require_text(client.log, "++C--");
    client_end(&client);
}

static SCNetworkReachabilityRef sibling;

static void unschedule_sibling(SCNetworkReachabilityRef target, struct client *client)
{
    (void)target;
    client->in_callout = NULL;
    require(unschedule(sibling, here(), MODE));
}

/* Both have changed; whichever callback comes first unschedules the other target. */
static void no_callout_begins_after_unscheduling(void *argument)
{
    struct client first, second;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef one = internet(&first), other = internet(&second);
    require(schedule(one, here(), MODE));
    require(schedule(other, here(), MODE));
    sibling = other;
    first.in_callout = unschedule_sibling;
    ip(ROUTE_ADD);
    run_until(&first, 1);
    size_t before = recorder_count(second.events);
    ip(ROUTE_DEL);
    run_until(&first, 2);
    require_int(recorder_count(second.events), before);
    require(before <= 1);
    require(unschedule(one, here(), MODE));
    finish(one, &first);
    finish(other, &second);
}

static SCNetworkReachabilityRef pair_of[2];

static void take_the_other_out_of_the_mode(SCNetworkReachabilityRef target, struct client *client)
{
    client->in_callout = NULL;
    require(unschedule(pair_of[target == pair_of[0]], here(), MODE));
}

/* The same when the other target stays scheduled, in another mode: there, its change is delivered. */
static void no_callout_begins_in_a_mode_the_target_has_left(void *argument)
{
    struct client clients[2];

    (void)argument;
    one_cable();
    for (int i = 0; i < 2; i++) {
        pair_of[i] = internet(&clients[i]);
        clients[i].in_callout = take_the_other_out_of_the_mode;
        require(schedule(pair_of[i], here(), MODE));
        require(schedule(pair_of[i], here(), CFSTR("other")));
    }
    ip(ROUTE_ADD);
    require_int(CFRunLoopRunInMode(MODE, 10, TRUE), kCFRunLoopRunHandledSource);
    CFRunLoopRunInMode(MODE, 0, FALSE);
    require_int(recorder_count(clients[0].events) + recorder_count(clients[1].events), 1);
    require_int(CFRunLoopRunInMode(CFSTR("other"), 10, TRUE), kCFRunLoopRunHandledSource);
    for (int i = 0; i < 2; i++) {
        require_int(recorder_count(clients[i].events), 1);
        require_int(next_callout(&clients[i]).flags, ONLINE);
        (void)unschedule(pair_of[i], here(), MODE);
        require(unschedule(pair_of[i], here(), CFSTR("other")));
        finish(pair_of[i], &clients[i]);
    }
}

/* A target that another thread unschedules and releases is gone at once, though the loop is waiting. */
static void a_waiting_loop_holds_on_to_nothing(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    struct loop_thread *thread = loop_thread_start(MODE);
    require(schedule(target, loop_thread_loop(thread), MODE));
    ip(ROUTE_ADD);
    require_int(next_callout(&client).flags, ONLINE);
    while (!CFRunLoopIsWaiting(loop_thread_loop(thread))) {
        sched_yield();
    }
    require(unschedule(target, loop_thread_loop(thread), MODE));
    CFRelease(target);
    require_text(client.log, "++C--");
    loop_thread_stop(thread);
    client_end(&client);
}

/* ------------------------------------------------------------------------------------------ the loop by itself --- */

static void stop(void *info)
{
    (void)info;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static int performed;

static void perform(void *info)
{
    (void)info;
    performed++;
}

static CFRunLoopSourceRef source_with(void (*function)(void *), CFIndex order)
{
    CFRunLoopSourceContext context;

    memset(&context, 0, sizeof context);
    context.perform = function;
    return CFRunLoopSourceCreate(kCFAllocatorDefault, order, &context);
}

static void *main_loop_of_another_thread(void *argument)
{
    require(CFRunLoopGetCurrent() != CFRunLoopGetMain());
    require(CFRunLoopGetCurrent() == CFRunLoopGetCurrent());
    require(CFRunLoopGetMain() == argument);
    require_int(CFRunLoopRunInMode(kCFRunLoopDefaultMode, 1.0e10, FALSE), kCFRunLoopRunFinished);
    return NULL;
}

static void each_thread_has_its_loop(void *argument)
{
    pthread_t thread;

    (void)argument;
    size_t descriptors = count_descriptors();
    require(CFRunLoopGetCurrent() == CFRunLoopGetMain());
    require_int(CFGetTypeID(CFRunLoopGetMain()), CFRunLoopGetTypeID());
    for (int i = 0; i < 20; i++) {
        require_int(pthread_create(&thread, NULL, main_loop_of_another_thread, CFRunLoopGetMain()), 0);
        require_int(pthread_join(thread, NULL), 0);
    }
    /* The loops of the threads are gone with them; the main one's descriptor stays. */
    require_int(count_descriptors(), descriptors + 1);
}

static void runs_end_as_they_should(void *argument)
{
    CFRunLoopSourceRef idle = source_with(NULL, 0), stopping = source_with(stop, 0), counting = source_with(perform, 0);

    (void)argument;
    require_int(CFRunLoopRunInMode(MODE, 10, FALSE), kCFRunLoopRunFinished);
    require_int(CFRunLoopRunInMode(kCFRunLoopCommonModes, 10, FALSE), kCFRunLoopRunFinished);
    CFRunLoopRun();
    CFRunLoopAddSource(here(), idle, MODE);
    require(CFRunLoopContainsSource(here(), idle, MODE));
    require(!CFRunLoopContainsSource(here(), counting, MODE));
    require_int(CFRunLoopRunInMode(MODE, 0, FALSE), kCFRunLoopRunTimedOut);
    require_int(CFRunLoopRunInMode(MODE, 0.001, FALSE), kCFRunLoopRunTimedOut);
    CFRunLoopAddSource(here(), counting, MODE);
    CFRunLoopSourceSignal(counting);
    CFRunLoopSourceSignal(counting);
    require_int(CFRunLoopRunInMode(MODE, 10, TRUE), kCFRunLoopRunHandledSource);
    require_int(performed, 1);
    CFRunLoopAddSource(here(), stopping, MODE);
    CFRunLoopSourceSignal(stopping);
    require_int(CFRunLoopRunInMode(MODE, 10, FALSE), kCFRunLoopRunStopped);
    CFRunLoopSourceSignal(stopping);
    CFRunLoopRun();

    /* Stopping a loop that does not run is not remembered. */
    CFRunLoopStop(here());
    require_int(CFRunLoopRunInMode(MODE, 0.001, FALSE), kCFRunLoopRunTimedOut);

    /* What is invalid counts for nothing. */
    CFRunLoopSourceInvalidate(counting);
    require(!CFRunLoopSourceIsValid(counting));
    CFRunLoopRemoveSource(here(), idle, MODE);
    CFRunLoopRemoveSource(here(), stopping, MODE);
    require_int(CFRunLoopRunInMode(MODE, 10, FALSE), kCFRunLoopRunFinished);
    CFRelease(idle);
    CFRelease(stopping);
    CFRelease(counting);
}

static int nested_result;

static void run_nested(SCNetworkReachabilityRef target, struct client *client)
{
    client->in_callout = NULL;
    ip(ROUTE_DEL);
    nested_result = CFRunLoopRunInMode(MODE, 10, TRUE);
    require_int(ask(target), 0);
}

static void a_callback_may_run_the_loop(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = internet(&client);
    client.in_callout = run_nested;
    require(schedule(target, here(), MODE));
    ip(ROUTE_ADD);
    run_until(&client, 2);
    require_int(nested_result, kCFRunLoopRunHandledSource);
    require_int(next_callout(&client).flags, 0); /* The inner one ends first. */
    require_int(next_callout(&client).flags, ONLINE);
    require(unschedule(target, here(), MODE));
    finish(target, &client);
}

static void *stop_when_waiting(void *loop)
{
    while (!CFRunLoopIsWaiting((CFRunLoopRef)loop)) {
        sched_yield();
    }
    CFRunLoopStop((CFRunLoopRef)loop);
    return NULL;
}

static void another_thread_can_stop_a_loop(void *argument)
{
    pthread_t thread;
    CFRunLoopSourceRef idle = source_with(NULL, 0);

    (void)argument;
    CFRunLoopAddSource(here(), idle, MODE);
    for (int i = 0; i < 100; i++) {
        require_int(pthread_create(&thread, NULL, stop_when_waiting, here()), 0);
        CFRunLoopRun();
        require_int(pthread_join(thread, NULL), 0);
    }
    CFRunLoopRemoveSource(here(), idle, MODE);
    CFRelease(idle);
}

struct timing {
    int fired;
    int references;
};

static const void *timing_retain(const void *info)
{
    ((struct timing *)info)->references++;
    return info;
}

static void timing_release(const void *info)
{
    ((struct timing *)info)->references--;
}

static void timing_fire(CFRunLoopTimerRef timer, void *info)
{
    struct timing *timing = info;

    if (++timing->fired == 3) {
        require(CFRunLoopTimerDoesRepeat(timer));
        CFRunLoopTimerInvalidate(timer);
    }
}

static void timers_fire(void *argument)
{
    struct timing once = { 0, 0 }, often = { 0, 0 };
    CFRunLoopTimerContext context = { 0, &once, timing_retain, timing_release, NULL };

    (void)argument;
    CFAbsoluteTime before = CFAbsoluteTimeGetCurrent();
    CFRunLoopTimerRef single = CFRunLoopTimerCreate(NULL, before + 0.01, 0, 0, 0, timing_fire, &context);
    context.info = &often;
    CFRunLoopTimerRef repeating = CFRunLoopTimerCreate(NULL, before, 0.005, 0, 0, timing_fire, &context);
    require(!CFRunLoopTimerDoesRepeat(single));
    CFRunLoopAddTimer(here(), single, MODE);
    CFRunLoopAddTimer(here(), repeating, kCFRunLoopCommonModes);
    require_int(once.references + often.references, 2);
    CFRunLoopRun(); /* Both are invalid in the end, and nothing is left. */
    require_int(once.fired, 1);
    require_int(often.fired, 3);
    require(CFAbsoluteTimeGetCurrent() >= before + 0.01);
    require(!CFRunLoopTimerIsValid(single) && !CFRunLoopTimerIsValid(repeating));
    CFRelease(single);
    CFRelease(repeating);

    /* From before all time on, and as often as can be. */
    often.fired = 0;
    repeating = CFRunLoopTimerCreate(NULL, -1e300, 1e-300, 0, 0, timing_fire, &context);
    CFRunLoopAddTimer(here(), repeating, MODE);
    CFRunLoopRun();
    require_int(often.fired, 3);
    CFRelease(repeating);
    require_int(once.references + often.references, 0);
}

/* One that the main dispatch queue, which would be something to wait for, is not served in. */
#define OWN_MODE CFSTR("of these tests")

/* An owner of a timer, whose context owns it: only the end of the timer opens the ring. */
struct owner {
    CFRunLoopTimerRef timer;
    int references, fired, references_in_callout;
};

static const void *owner_retain(const void *info)
{
    ((struct owner *)info)->references++;
    return info;
}

static void owner_release(const void *info)
{
    struct owner *owner = (struct owner *)info;

    if (--owner->references == 0) {
        CFRelease(owner->timer);
    }
}

static void owner_fire(CFRunLoopTimerRef timer, void *info)
{
    struct owner *owner = info;

    require(CFRunLoopTimerIsValid(timer));
    owner->fired++;
    CFRunLoopTimerInvalidate(timer);
    owner->references_in_callout = owner->references;
}

static void owner_begin(struct owner *owner, CFAbsoluteTime due, CFTimeInterval interval)
{
    CFRunLoopTimerContext context = { 0, owner, owner_retain, owner_release, NULL };

    memset(owner, 0, sizeof *owner);
    owner->references = 1;
    owner->timer = CFRunLoopTimerCreate(NULL, due, interval, 0, 0, owner_fire, &context);
    CFRunLoopAddTimer(here(), owner->timer, OWN_MODE);
    owner_release(owner);
    require_int(owner->references, 1);
}

static void an_invalid_timer_lets_its_info_go(void *argument)
{
    struct owner owner;

    (void)argument;
    owner_begin(&owner, CFAbsoluteTimeGetCurrent() + 1.0e9, 1);
    CFRetain(owner.timer);
    CFRunLoopTimerInvalidate(owner.timer);
    require_int(owner.references, 0);
    CFRunLoopTimerInvalidate(owner.timer);
    require(!CFRunLoopTimerIsValid(owner.timer));
    require_int(CFRunLoopRunInMode(OWN_MODE, 10, FALSE), kCFRunLoopRunFinished);
    CFRelease(owner.timer);
    require_int(owner.references, 0);

    /* In its own callout, which may go on using the info, whether it would come again or not. */
    for (int interval = 0; interval < 2; interval++) {
        owner_begin(&owner, CFAbsoluteTimeGetCurrent(), interval);
        require_int(CFRunLoopRunInMode(OWN_MODE, (double)deadline_ms() / 1000, FALSE), kCFRunLoopRunFinished);
        require_int(owner.fired, 1);
        require_int(owner.references_in_callout, 1);
        require_int(owner.references, 0);
    }
}

static void timing_fire_and_stop(CFRunLoopTimerRef timer, void *info)
{
    (void)timer;
    (void)info;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static CFRunLoopTimerRef postponed;

static void *fire_now_when_waiting(void *loop)
{
    while (!CFRunLoopIsWaiting((CFRunLoopRef)loop)) {
        sched_yield();
    }
    CFRunLoopTimerSetNextFireDate(postponed, CFAbsoluteTimeGetCurrent());
    return NULL;
}

static void another_thread_can_set_a_timer(void *argument)
{
    pthread_t thread;

    (void)argument;
    postponed = CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + 1.0e9, 1.0e9, 0, 0, timing_fire_and_stop, NULL);
    CFRunLoopAddTimer(here(), postponed, MODE);
    for (int i = 0; i < 20; i++) {
        require_int(pthread_create(&thread, NULL, fire_now_when_waiting, here()), 0);
        require_int(CFRunLoopRunInMode(MODE, (double)deadline_ms() / 1000, FALSE), kCFRunLoopRunStopped);
        require_int(pthread_join(thread, NULL), 0);
    }
    CFRunLoopTimerInvalidate(postponed);
    CFRelease(postponed);
}

struct places {
    CFRunLoopRef loops[8];
    int scheduled, cancelled, released;
};

static void places_schedule(void *info, CFRunLoopRef loop, CFStringRef mode)
{
    struct places *places = info;

    (void)mode;
    places->loops[places->scheduled++] = loop;
}

static void places_cancel(void *info, CFRunLoopRef loop, CFStringRef mode)
{
    struct places *places = info;

    require(mode != NULL);
    for (int i = 0; i < places->scheduled; i++) {
        if (places->loops[i] == loop) {
            places->loops[i] = NULL;
            places->cancelled++;
            return;
        }
    }
    require(!"cancelled where it was scheduled");
}

static void places_release(const void *info)
{
    ((struct places *)info)->released++;
}

static void an_invalid_source_is_in_no_loop(void *argument)
{
    struct places places = { 0 };
    CFRunLoopSourceContext context = { 0 };
    struct loop_thread *thread = loop_thread_start(MODE);
    CFRunLoopRef other = loop_thread_loop(thread);

    (void)argument;
    context.info = &places;
    context.schedule = places_schedule;
    context.cancel = places_cancel;
    context.release = places_release;
    CFRunLoopSourceRef source = CFRunLoopSourceCreate(NULL, 0, &context);
    CFRunLoopAddSource(here(), source, OWN_MODE);
    CFRunLoopAddSource(here(), source, CFSTR("other"));
    CFRunLoopAddSource(other, source, MODE);
    require_int(places.scheduled, 3);
    CFRunLoopSourceSignal(source);
    CFRunLoopSourceInvalidate(source);
    require_int(places.cancelled, 3);
    require(!CFRunLoopSourceIsValid(source));
    require(!CFRunLoopContainsSource(here(), source, OWN_MODE));
    require(!CFRunLoopContainsSource(here(), source, CFSTR("other")));
    require(!CFRunLoopContainsSource(other, source, MODE));
    CFRunLoopSourceInvalidate(source);
    CFRunLoopAddSource(here(), source, OWN_MODE);
    CFRunLoopRemoveSource(here(), source, OWN_MODE);
    require_int(places.scheduled, 3);
    require_int(places.cancelled, 3);
    require_int(CFRunLoopRunInMode(OWN_MODE, 10, FALSE), kCFRunLoopRunFinished);
    require_int(places.released, 0);
    CFRelease(source);
    require_int(places.released, 1);
    loop_thread_stop(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(arguments_are_checked),
        process_test(what_is_not_scheduled_cannot_be_unscheduled),
        process_test(another_thread_can_stop_a_loop),
        process_test(another_thread_can_set_a_timer),
        process_test(an_invalid_timer_lets_its_info_go),
        process_test(an_invalid_source_is_in_no_loop),
        namespace_test(unscheduling_from_elsewhere_does_nothing),
        namespace_test(one_loop_delivers_for_all),
        namespace_test(a_waiting_loop_delivers_rather_than_an_idle_one),
        namespace_test(loops_wake_each_other_up),
        namespace_test(a_target_can_be_scheduled_again_at_once),
        namespace_test(a_target_can_be_moved_inside_its_callback),
        namespace_test(a_callback_can_be_set_after_scheduling),
        namespace_test(addresses_get_no_first_callback),
        namespace_test(flags_are_there_right_after_scheduling_and_after_unscheduling),
        namespace_test(the_interface_counts_and_other_changes_do_not),
        namespace_test(callouts_come_on_the_loops_thread_while_it_runs),
        namespace_test(flags_are_those_of_the_delivery_within_a_turn),
        namespace_test(what_was_signalled_before_unscheduling_is_dropped),
        namespace_test(a_scheduled_target_keeps_itself_alive),
        namespace_test(no_callout_begins_after_unscheduling),
        namespace_test(no_callout_begins_in_a_mode_the_target_has_left),
        namespace_test(a_callback_may_run_the_loop),
#ifndef REACH_USE_COREFOUNDATION
        process_test(each_thread_has_its_loop),
        process_test(runs_end_as_they_should),
        process_test(timers_fire),
        namespace_test(schedules_are_counted),
        namespace_test(callouts_come_only_in_the_modes_of_the_schedule),
        namespace_test(changes_before_the_loop_runs_come_as_one),
        namespace_test(flags_are_those_of_the_delivery),
        namespace_test(everything_can_be_torn_down_inside_the_callback),
        namespace_test(a_waiting_loop_holds_on_to_nothing),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
