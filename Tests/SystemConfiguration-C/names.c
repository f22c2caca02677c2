/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Host names, which are looked up only while they are scheduled. The namespace has a hosts file of its own, and a name
 * server address at which the test itself listens and never answers, so that every query is seen.
 */
#include "client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define LOOP CFRunLoopGetCurrent()
#define MODE kCFRunLoopDefaultMode

static void replace_file(const char *path, const char *text)
{
    char file[] = "/tmp/reach-names-XXXXXX";
    int descriptor = mkstemp(file);

    require(descriptor >= 0);
    require_int(write(descriptor, text, strlen(text)), strlen(text));
    close(descriptor);
    require_int(mount(file, path, NULL, MS_BIND, NULL), 0);
    unlink(file);
}

/* The socket that stands for the name server. */
static int no_name_server(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
    int server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(server >= 0);
    require_int(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    replace_file("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
    replace_file("/etc/nsswitch.conf", "hosts: files dns\n");
    replace_file("/etc/hosts", "127.0.0.1 own.example\n10.1.0.1 direct.example\n8.8.8.8 far.example\n"
                               "203.0.113.1 two.example\n10.1.0.1 two.example\n");
    return server;
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

/* Runs the loop until the target's flags are as expected, and says what the last callback said. */
static void run_until_flags(struct client *client, SCNetworkReachabilityRef target, SCNetworkReachabilityFlags expected)
{
    int64_t end = now_ms() + deadline_ms();

    while (ask(target) != expected) {
        require_message(now_ms() < end, "the flags are %#x, not %#x", ask(target), expected);
        CFRunLoopRunInMode(MODE, (double)deadline_ms() / 1000, TRUE);
    }
    (void)client;
}

#define LOCAL_DIRECT (ONLINE | kSCNetworkReachabilityFlagsIsLocalAddress | kSCNetworkReachabilityFlagsIsDirect)
#define DIRECT       (ONLINE | kSCNetworkReachabilityFlagsIsDirect)

static void a_first_callback_is_owed(void *argument)
{
    struct client client;

    (void)argument;
    one_cable();
    no_name_server();
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
    no_name_server();
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
    int server = no_name_server();
    SCNetworkReachabilityRef target = name("not-in-hosts.example", &client);
    for (int i = 0; i < 10; i++) {
        require_int(ask(target), ONLINE); /* As an unresolved host beyond the default route. */
    }
    require(!is_readable(server, 0));
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    require_int(ask(target), ONLINE); /* At once, before any answer. */
    wait_readable(server);
    finish(target, &client);

    /* Text that is an address is never looked up. */
    SCNetworkReachabilityRef address = name("10.1.0.1", &client);
    char query[512];
    while (is_readable(server, 0)) {
        require(read(server, query, sizeof query) > 0);
    }
    require(SCNetworkReachabilityScheduleWithRunLoop(address, LOOP, MODE));
    require_int(ask(address), DIRECT);
    run_due();
    require(!is_readable(server, 0));
    require_int(recorder_count(client.events), 0);
    finish(address, &client);
    close(server);
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
    no_name_server();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client client;
        SCNetworkReachabilityRef target = name(cases[i].name, &client);

        require_int(ask(target), ONLINE);
        require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
        run_until_flags(&client, target, cases[i].flags);
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
    no_name_server();
    SCNetworkReachabilityRef target = name("direct.example", &client);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    run_until_flags(&client, target, DIRECT);
    cable_pull("wan0");
    run_until_flags(&client, target, 0);
    cable_plug("wan0");
    run_until_flags(&client, target, DIRECT);
    finish(target, &client);
}

/* A look-up that gets no answer: the target is unscheduled and freed all the same, and its late failure is nobody's. */
static void a_stuck_look_up_holds_nothing_up(void *argument)
{
    struct client client, other;

    (void)argument;
    one_cable();
    ip(ROUTE_ADD);
    int server = no_name_server();
    SCNetworkReachabilityRef target = name("not-in-hosts.example", &client);
    require(SCNetworkReachabilityScheduleWithRunLoop(target, LOOP, MODE));
    wait_readable(server);
    finish(target, &client);

    SCNetworkReachabilityRef internet = address_target("0.0.0.0");
    client_begin(&other);
    client_attach(&other, internet);
    require(SCNetworkReachabilityScheduleWithRunLoop(internet, LOOP, MODE));
    ip(ROUTE_DEL);
    run_until(&other, 1);
    finish(internet, &other);
    close(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(a_first_callback_is_owed),
        namespace_test(asking_takes_the_place_of_the_first_callback),
        namespace_test(nothing_is_looked_up_before_scheduling),
        namespace_test(the_best_address_counts),
        namespace_test(a_name_follows_its_path),
        namespace_test(a_stuck_look_up_holds_nothing_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
