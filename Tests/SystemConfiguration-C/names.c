/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Host names, which are looked up only while they are scheduled. Known ones stand in the scenario's own hosts file; the
 * name server is one that never answers but counts what it is asked, or one that knows that a name does not exist.
 */
#include "client.h"
#include "dns.h"

#include <string.h>

#define LOOP CFRunLoopGetCurrent()
#define MODE kCFRunLoopDefaultMode

static struct dns_fake *silent_name_server(void)
{
    etc_own();
    etc_replace("host.conf", "multi on\n"); /* A name may have several lines. */
    etc_replace("hosts", "127.0.0.1 own.example\n10.1.0.1 direct.example\n8.8.8.8 far.example\n"
                         "203.0.113.1 two.example\n10.1.0.1 two.example\n");
    etc_name_server(1);
    return dns_fake_start(1, dns_silent);
}

static SCNetworkReachabilityRef name(const char *text, struct client *client)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, text);

    require(target != NULL);
    client_begin(client);
    client_attach(client, target);
    return target;
}

static void finish(SCNetworkReachabilityRef target, struct client *client)
{
    require(SCNetworkReachabilityUnscheduleFromRunLoop(target, LOOP, MODE));
    CFRelease(target);
    require_int(client->retained, client->released);
    client_end(client);
}

/* Runs the loop until the target's flags are as expected. */
static void run_until_flags(SCNetworkReachabilityRef target, SCNetworkReachabilityFlags expected)
{
    int64_t end = now_ms() + deadline_ms();

    while (ask(target) != expected) {
        require_message(now_ms() < end, "the flags are %#x, not %#x", ask(target), expected);
        CFRunLoopRunInMode(MODE, (double)deadline_ms() / 1000, TRUE);
    }
}

#define LOCAL_DIRECT (ONLINE | kSCNetworkReachabilityFlagsIsLocalAddress | kSCNetworkReachabilityFlagsIsDirect)
#define DIRECT       (ONLINE | kSCNetworkReachabilityFlagsIsDirect)

static void a_first_callback_is_owed(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    silent_name_server();
    SCNetworkReachabilityRef target = name("far.example", &client);
    /* Offline, and after each schedule anew. */
    for (size_t i = 1; i <= 3; i++) {
        require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
        require_int(recorder_count(client.events), i - 1);
        run_until(&client, i);
        require_int(next_callout(&client).flags, 0);
        require(SCNetworkReachabilityUnscheduleFromRunLoop(target, LOOP, MODE));
    }
    ip(ROUTE_ADD);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    while (recorder_count(client.events) < 4) {
        CFRunLoopRunInMode(MODE, (double)deadline_ms() / 1000, TRUE);
    }
    require_int(next_callout(&client).flags, ONLINE);
    finish(target, &client);
}

/* Asking takes the place of the first callback, so the next one is for a change. */
static void asking_takes_the_place_of_the_first_callback(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    silent_name_server();
    SCNetworkReachabilityRef target = name("far.example", &client);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    require_int(ask(target), 0);
    run_due();
    require_int(recorder_count(client.events), 0);
    ip(ROUTE_ADD);
    while (recorder_count(client.events) < 1) {
        CFRunLoopRunInMode(MODE, (double)deadline_ms() / 1000, TRUE);
    }
    require_int(next_callout(&client).flags, ONLINE);
    finish(target, &client);
}

static void nothing_is_looked_up_before_scheduling(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    struct dns_fake *server = silent_name_server();
    SCNetworkReachabilityRef target = name("unknown.example", &client);
    for (int i = 0; i < 10; i++) {
        require_int(ask(target), ONLINE); /* As an unresolved host beyond the default route. */
    }
    require_int(dns_fake_queries(server, NULL), 0);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    require_int(ask(target), ONLINE); /* At once, before any answer. */
    dns_fake_wait(server, "unknown.example", 1);
    finish(target, &client);

    /* Text that is an address is never looked up. */
    SCNetworkReachabilityRef address = name("10.1.0.1", &client);
    require(SCNetworkReachabilityScheduleWithRunLoop(address, LOOP, MODE));
    require_int(ask(address), DIRECT);
    run_due();
    require_int(dns_fake_queries(server, "10.1.0.1"), 0);
    require_int(recorder_count(client.events), 0);
    finish(address, &client);
}

/* Reachable like the internet at first, then not, once it is known that there is no such name. */
static void a_name_that_does_not_exist_is_not_reachable(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    etc_own();
    etc_name_server(2);
    dns_start(2, NULL);
    SCNetworkReachabilityRef target = name("nobody.test", &client);
    require_int(ask(target), ONLINE);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    run_until_flags(target, 0);
    require(SCNetworkReachabilityUnscheduleFromRunLoop(target, LOOP, MODE));
    require_int(ask(target), ONLINE);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    finish(target, &client);
}

static void the_best_address_counts(void *argument)
{
    static const struct {
        const char *name;
        SCNetworkReachabilityFlags flags;
    } cases[] = { { "own.example", LOCAL_DIRECT }, { "direct.example", DIRECT }, { "two.example", DIRECT } };

    (void)argument;
    one_cable();
    ip("route add 198.51.100.0/24 via 10.1.0.1"); /* A path, but none to two.example's first address. */
    ip(ROUTE_ADD);
    ip("route add unreachable 203.0.113.0/24");
    silent_name_server();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client;
        SCNetworkReachabilityRef target = name(cases[i].name, &client);

        require_int(ask(target), ONLINE);
        require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
        run_until_flags(target, cases[i].flags);
        /* Unscheduled, what was looked up is forgotten. */
        require(SCNetworkReachabilityUnscheduleFromRunLoop(target, LOOP, MODE));
        require_int(ask(target), ONLINE);
        require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
        finish(target, &client);
    }
}

static void a_name_follows_its_path(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    silent_name_server();
    SCNetworkReachabilityRef target = name("direct.example", &client);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    run_until_flags(target, DIRECT);
    cable_pull("wan0");
    run_until_flags(target, 0);
    cable_plug("wan0");
    run_until_flags(target, DIRECT);
    finish(target, &client);
}

/* A look-up that gets no answer: the target is unscheduled and freed all the same, and its late failure is nobody's. */
static void a_stuck_look_up_holds_nothing_up(void *argument)
{
    struct client client, other;

    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    struct dns_fake *server = silent_name_server();
    SCNetworkReachabilityRef target = name("unknown.example", &client);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    dns_fake_wait(server, "unknown.example", 1);
    finish(target, &client);

    SCNetworkReachabilityRef internet = address_target("0.0.0.0");
    client_begin(&other);
    client_attach(&other, internet);
    require(SCNetworkReachabilityScheduleWithRunLoop(internet, LOOP, MODE));
    ip(ROUTE_DEL);
    run_until(&other, 1);
    finish(internet, &other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(a_first_callback_is_owed),
        namespace_test(asking_takes_the_place_of_the_first_callback),
        namespace_test(nothing_is_looked_up_before_scheduling),
        namespace_test(a_name_that_does_not_exist_is_not_reachable),
        namespace_test(the_best_address_counts),
        namespace_test(a_name_follows_its_path),
        namespace_test(a_stuck_look_up_holds_nothing_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
