/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * SCNetworkReachabilitySetCallback: what is done with the client's context, when, and how often.
 */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static SCNetworkReachabilityRef schedule(const char *address)
{
    SCNetworkReachabilityRef target = address_target(address);

    require(SCNetworkReachabilityScheduleWithRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode));
    return target;
}

static void unschedule(SCNetworkReachabilityRef target)
{
    require(SCNetworkReachabilityUnscheduleFromRunLoop(target, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode));
}

static void setting_succeeds_and_leaves_the_error(void *argument)
{
    struct client client;

    (void)argument;
    client_begin(&client);
    SCNetworkReachabilityContext context = client_context(&client);
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    reach_sc_error_1 = kSCStatusNoKey;
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    require(SCNetworkReachabilitySetCallback(target, client_callout, NULL));
    require(SCNetworkReachabilitySetCallback(target, NULL, &context));
    require(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    require_int(SCError(), kSCStatusNoKey);
    require_invalid(SCNetworkReachabilitySetCallback(NULL, client_callout, &context));
    require_invalid(SCNetworkReachabilitySetCallback((SCNetworkReachabilityRef)(CFTypeRef)CFSTR("x"), client_callout,
                                                     &context));
    CFRelease(target);
    require_text(client.log, "+-+-");
    client_end(&client);
}

/* An info that has one owner only, the target. */
struct owned {
    int count;
    bool destroyed;
};

static const void *owned_retain(const void *info)
{
    ((struct owned *)info)->count++;
    return info;
}

static void owned_release(const void *info)
{
    struct owned *owned = (struct owned *)info;

    owned->destroyed = owned->destroyed || --owned->count == 0;
}

static void the_old_context_is_released_before_the_new_one_is_retained(void *argument)
{
    struct client old, new;
    struct owned owned = { 0, false };
    SCNetworkReachabilityContext owning = { 0, &owned, owned_retain, owned_release, NULL };

    (void)argument;
    client_begin(&old);
    client_begin(&new);
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    client_attach(&old, target);
    require_text(old.log, "+");
    client_attach(&old, target);
    require_text(old.log, "+-+");
    client_attach(&new, target);
    require_text(old.log, "+-+-");
    require_text(new.log, "+");

    /* So the same info, owned by nobody else, is destroyed on the way. */
    require(SCNetworkReachabilitySetCallback(target, NULL, &owning));
    require(!owned.destroyed);
    require(SCNetworkReachabilitySetCallback(target, NULL, &owning));
    require(owned.destroyed);
    CFRelease(target);
    client_end(&old);
    client_end(&new);
}

/* Counted copies: retain returns another pointer than it was given. */
struct copies {
    int given, last, released[8], released_count;
    struct copy {
        struct copies *all;
        int number;
    } copy[8];
    int retained_from[8];
};

static const void *copies_retain(const void *info)
{
    struct copies *all = ((const struct copy *)info)->all;
    struct copy *copy = &all->copy[++all->given];

    all->retained_from[all->given] = ((const struct copy *)info)->number;
    copy->all = all;
    copy->number = all->given;
    return copy;
}

static void copies_release(const void *info)
{
    struct copies *all = ((const struct copy *)info)->all;

    all->released[all->released_count++] = ((const struct copy *)info)->number;
}

static void copies_callout(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct copy *copy = info;

    (void)target;
    (void)flags;
    copy->all->last = copy->number;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static void what_retain_returns_is_the_info(void *argument)
{
    struct copies all = { 0 };

    (void)argument;
    one_cable();
    all.copy[0].all = &all;
    SCNetworkReachabilityContext context = { 0, &all.copy[0], copies_retain, copies_release, NULL };
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, copies_callout, &context));
    memset(&context, 0xff, sizeof context); /* It was copied. */
    ip(ROUTE_ADD);
    CFRunLoopRun();
    /* Number 1 is the target's, number 2 was made from it for the callout, which released it. */
    require_int(all.retained_from[1], 0);
    require_int(all.retained_from[2], 1);
    require_int(all.last, 2);
    require_int(all.released_count, 1);
    require_int(all.released[0], 2);
    unschedule(target);
    CFRelease(target);
    require_int(all.released_count, 2);
    require_int(all.released[1], 1);
}

static int without_context_calls;
static void *without_context_info;

static void without_context(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    (void)target;
    (void)flags;
    without_context_calls++;
    without_context_info = info;
    CFRunLoopStop(CFRunLoopGetCurrent());
}

static void without_a_context_info_is_null(void *argument)
{
    SCNetworkReachabilityContext empty = { 0, NULL, NULL, NULL, NULL };

    (void)argument;
    one_cable();
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    without_context_info = (void *)target;
    require(SCNetworkReachabilitySetCallback(target, without_context, NULL));
    ip(ROUTE_ADD);
    CFRunLoopRun();
    require_int(without_context_calls, 1);
    require(without_context_info == NULL);
    without_context_info = (void *)target;
    require(SCNetworkReachabilitySetCallback(target, without_context, &empty));
    ip(ROUTE_DEL);
    CFRunLoopRun();
    require_int(without_context_calls, 2);
    require(without_context_info == NULL);
    unschedule(target);
    CFRelease(target);
}

static void release_without_retain_is_called_once(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    SCNetworkReachabilityContext context = client_context(&client);
    context.retain = NULL;
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    ip(ROUTE_ADD);
    run_until(&client, 1);
    require_text(client.log, "C");
    require(client.info == &client);
    client_detach(target);
    require_text(client.log, "C-");
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    unschedule(target);
    require_text(client.log, "C-");
    CFRelease(target);
    require_text(client.log, "C--");
    client_end(&client);
}

/* The context that is replaced inside its own callout is released after it, as nothing else protects its info. */
static void replace_inside(SCNetworkReachabilityRef target, struct client *client)
{
    require(SCNetworkReachabilitySetCallback(target, NULL, NULL));
    require_int(client->released, 0);
}

static void info_without_retain_outlives_the_callout(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    client.in_callout = replace_inside;
    SCNetworkReachabilityContext context = client_context(&client);
    context.retain = NULL;
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    ip(ROUTE_ADD);
    run_until(&client, 1);
    require_text(client.log, "C-");
    unschedule(target);
    CFRelease(target);
    require_text(client.log, "C-");
    client_end(&client);
}

static void a_context_without_callout_is_kept_and_served(void *argument)
{
    struct client quiet, other;

    (void)argument;
    one_cable();
    client_begin(&quiet);
    client_begin(&other);
    SCNetworkReachabilityContext context = client_context(&quiet);
    SCNetworkReachabilityRef target = schedule("0.0.0.0"), second = schedule("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, NULL, &context));
    client_attach(&other, second);
    require_text(quiet.log, "+");
    ip(ROUTE_ADD);
    run_until(&other, 1);
    run_due();
    require_text(quiet.log, "++-");
    /* The state was tracked meanwhile: a callout set now hears only of what comes. */
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    require_text(quiet.log, "++--+");
    client_clear_log(&quiet);
    ip(ROUTE_DEL);
    run_until(&quiet, 1);
    require_int(next_callout(&quiet).flags, 0);
    unschedule(target);
    unschedule(second);
    CFRelease(target);
    CFRelease(second);
    require_text(quiet.log, "+C--");
    client_end(&quiet);
    client_end(&other);
}

static struct client *attach_inside_to;

static void attach_inside(SCNetworkReachabilityRef target, struct client *client)
{
    client->in_callout = NULL;
    client_attach(attach_inside_to, target);
}

static void setting_causes_no_callout_and_counts_from_the_next(void *argument)
{
    struct client first, second;

    (void)argument;
    one_cable();
    client_begin(&first);
    client_begin(&second);
    attach_inside_to = &second;
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    client_attach(&first, target);
    run_due();
    require_int(recorder_count(first.events), 0);

    first.in_callout = attach_inside;
    ip(ROUTE_ADD);
    run_until(&first, 1);
    run_due();
    require_int(recorder_count(second.events), 0);
    /* The target's release comes inside the callout, that of the callout's own retain after it. */
    require_text(first.log, "++C--");
    ip(ROUTE_DEL);
    run_until(&second, 1);
    require_int(recorder_count(first.events), 1);
    unschedule(target);
    CFRelease(target);
    require_text(second.log, "++C--");
    client_end(&first);
    client_end(&second);
}

static void info_is_retained_around_each_callout_and_counts_are_even(void *argument)
{
    enum { changes = 6 };
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    client_attach(&client, target);
    for (int i = 1; i <= changes; i++) {
        ip(i % 2 == 1 ? ROUTE_ADD : ROUTE_DEL);
        run_until(&client, (size_t)i);
        require_int(next_callout(&client).flags, i % 2 == 1 ? ONLINE : 0);
    }
    require_text(client.log, "+" "+C-" "+C-" "+C-" "+C-" "+C-" "+C-");
    unschedule(target);
    require_int(client.released, changes);
    CFRelease(target);
    require_int(client.retained, 1 + changes);
    require_int(client.released, 1 + changes);
    client_end(&client);
}

/* Apple forbids this: there the target's lock is held. */
static SCNetworkReachabilityRef reentrant_target;
static int reentrant_calls;

static const void *reentrant_retain(const void *info)
{
    SCNetworkReachabilityFlags flags;

    reentrant_calls++;
    require(SCNetworkReachabilityGetFlags(reentrant_target, &flags));
    return info;
}

static void reentrant_release(const void *info)
{
    (void)info;
    reentrant_calls++;
    require_int(CFGetTypeID(reentrant_target), SCNetworkReachabilityGetTypeID());
    require_invalid(SCNetworkReachabilityUnscheduleFromRunLoop(reentrant_target, CFRunLoopGetMain(),
                                                               kCFRunLoopDefaultMode));
}

static void retain_and_release_may_call_everything(void *argument)
{
    int own = 0;
    SCNetworkReachabilityContext context = { 0, &own, reentrant_retain, reentrant_release, NULL };

    (void)argument;
    reentrant_target = address_target("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(reentrant_target, without_context, &context));
    require(SCNetworkReachabilitySetCallback(reentrant_target, without_context, &context));
    require(SCNetworkReachabilitySetCallback(reentrant_target, NULL, NULL));
    require_int(reentrant_calls, 4);
    CFRelease(reentrant_target);
}

/* A release function that sets another callback, while SetCallback itself is under way. */
static struct client *nested_client;

static void nested_release(const void *info)
{
    SCNetworkReachabilityContext context = client_context(nested_client);

    require(SCNetworkReachabilitySetCallback((SCNetworkReachabilityRef)info, client_callout, &context));
}

static void the_last_of_nested_settings_stays(void *argument)
{
    struct client nested, last;

    (void)argument;
    client_begin(&nested);
    client_begin(&last);
    nested_client = &nested;
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    SCNetworkReachabilityContext context = { 0, (void *)target, NULL, nested_release, NULL };
    require(SCNetworkReachabilitySetCallback(target, NULL, &context));
    client_attach(&last, target);
    require_text(nested.log, "+-");
    require_text(last.log, "+");
    CFRelease(target);
    require_text(last.log, "+-");
    client_end(&nested);
    client_end(&last);
}

/* A change that is delivered while SetCallback stands between two contexts goes to the new one. */
static struct client *windowed;

static void change_and_run(const void *info)
{
    (void)info;
    ip(ROUTE_ADD);
    run_due();
    require_int(recorder_count(windowed->events), 0);
}

static void no_change_is_lost_while_a_context_is_replaced(void *argument)
{
    struct client client;
    int own = 0;
    SCNetworkReachabilityContext context = { 0, &own, NULL, change_and_run, NULL };

    (void)argument;
    one_cable();
    client_begin(&client);
    windowed = &client;
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, without_context, &context));
    client_attach(&client, target);
    run_until(&client, 1);
    require_int(next_callout(&client).flags, ONLINE);
    require_int(without_context_calls, 0);
    unschedule(target);
    CFRelease(target);
    client_end(&client);
}

static int descriptions;

static CFStringRef describe(const void *info)
{
    (void)info;
    descriptions++;
    return NULL;
}

static void the_description_of_a_context_is_never_asked_for(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    client_begin(&client);
    SCNetworkReachabilityContext context = client_context(&client);
    context.copyDescription = describe;
    SCNetworkReachabilityRef target = schedule("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    ip(ROUTE_ADD);
    run_until(&client, 1);
    CFShow(target);
    unschedule(target);
    CFRelease(target);
    require_int(descriptions, 0);
    client_end(&client);
}

/* The version is not looked at. */
static void any_version_will_do(void *argument)
{
    struct client client;

    (void)argument;
    client_begin(&client);
    SCNetworkReachabilityContext context = client_context(&client);
    context.version = 77;
    SCNetworkReachabilityRef target = address_target("0.0.0.0");
    require(SCNetworkReachabilitySetCallback(target, client_callout, &context));
    CFRelease(target);
    require_text(client.log, "+-");
    client_end(&client);
}

/* The wrappers' pattern: a box with a weak pointer to the object, which the context owns. */
struct wrapper {
    SCNetworkReachabilityRef target;
    int notifications;
};

struct box {
    int references;
    struct wrapper *wrapper; /* NULL once the wrapper is gone */
};

static int boxes;

static const void *box_retain(const void *info)
{
    (void)__atomic_add_fetch(&((struct box *)info)->references, 1, __ATOMIC_RELAXED);
    return info;
}

static void box_release(const void *info)
{
    if (__atomic_sub_fetch(&((struct box *)info)->references, 1, __ATOMIC_ACQ_REL) == 0) {
        free((void *)info);
        boxes--;
    }
}

static void box_callout(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags flags, void *info)
{
    struct box *box = info;

    (void)target;
    (void)flags;
    if (box->wrapper != NULL) {
        box->wrapper->notifications++;
    }
    CFRunLoopStop(CFRunLoopGetCurrent());
}

/* Watches with a box as the context's info. The caller has one reference to it, the context another. */
static struct box *box_attach(struct wrapper *wrapper)
{
    struct box *box = calloc(1, sizeof *box);
    SCNetworkReachabilityContext context = { 0, box, box_retain, box_release, NULL };

    require(box != NULL);
    boxes++;
    box->references = 1;
    box->wrapper = wrapper;
    require(SCNetworkReachabilitySetCallback(wrapper->target, box_callout, &context));
    return box;
}

static void a_weak_box_outlives_its_wrapper(void *argument)
{
    (void)argument;
    one_cable();
    for (int i = 0; i < 3; i++) {
        struct wrapper wrapper = { schedule("::"), 0 };
        struct box *box = box_attach(&wrapper);

        ip(ROUTE_ADD);
        CFRunLoopRun();
        require_int(wrapper.notifications, 1);

        /* The wrapper goes away while it is scheduled: it forgets its target, and the box lives on in the context. */
        box->wrapper = NULL;
        box_release(box);
        SCNetworkReachabilityRef target = wrapper.target;
        ip(ROUTE_DEL);
        CFRunLoopRun();
        require_int(wrapper.notifications, 1);
        require_int(boxes, 1);
        unschedule(target);
        CFRelease(target);
        require_int(boxes, 0);
    }
}

/* Whoever unschedules a target on its loop's thread and lets go of it has it gone there and then, with its context. */
static void the_owner_sees_the_last_release(void *argument)
{
    (void)argument;
    one_cable();
    for (int i = 0; i < 200; i++) {
        struct wrapper wrapper = { schedule("0.0.0.0"), 0 };
        box_release(box_attach(&wrapper));
        ip(i % 2 == 0 ? ROUTE_ADD : ROUTE_DEL);
        CFRunLoopRun();
        require_int(wrapper.notifications, 1);
        unschedule(wrapper.target);
        CFRelease(wrapper.target);
        require_int(boxes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(setting_succeeds_and_leaves_the_error),
        process_test(the_old_context_is_released_before_the_new_one_is_retained),
        process_test(retain_and_release_may_call_everything),
        process_test(the_last_of_nested_settings_stays),
        process_test(any_version_will_do),
        namespace_test(what_retain_returns_is_the_info),
        namespace_test(without_a_context_info_is_null),
        namespace_test(release_without_retain_is_called_once),
        namespace_test(info_without_retain_outlives_the_callout),
        namespace_test(a_context_without_callout_is_kept_and_served),
        namespace_test(setting_causes_no_callout_and_counts_from_the_next),
        namespace_test(info_is_retained_around_each_callout_and_counts_are_even),
        namespace_test(no_change_is_lost_while_a_context_is_replaced),
        namespace_test(the_description_of_a_context_is_never_asked_for),
        namespace_test(a_weak_box_outlives_its_wrapper),
        namespace_test(the_owner_sees_the_last_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
