/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Host names: what a scheduled name answers and when it calls, with name servers that work, fail, hang and come late.
 */
#include "dns.h"
#include "support.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    reachable = REACH_FLAG_REACHABLE,
    on_link = REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT,
    own = REACH_FLAG_REACHABLE | REACH_FLAG_IS_LOCAL_ADDRESS | REACH_FLAG_IS_DIRECT,
};

static void online_network(void)
{
    ip("link set lo up");
    veth("wan0", "10.1.0.2/24", "2001:db8:1::2/64");
    ip("route add default via 10.1.0.1 dev wan0\n"
       "-6 route add default via 2001:db8:1::1 dev wan0");
    etc_own();
}

/* A name on a manual queue. */
struct watched {
    reach_queue *queue;
    reach_target *name;
    struct recorder *events;
};

static struct watched watch(const char *host)
{
    struct watched watched = { reach_queue_create_manual(), target_name(host), recorder_create() };
    require(watched.queue != NULL);
    require(reach_set_callback(watched.name, record_event, watched.events, record_release));
    require(reach_set_queue(watched.name, watched.queue));
    return watched;
}

static void expect(struct watched *watched, reach_flags flags)
{
    require_event(watched->events, watched->queue, watched->name, flags);
}

/* The reason is the one expected as soon as the queue has taken in the answer. */
static void drive_until_reason(struct watched *watched, int32_t reason)
{
    int64_t end = now_ms() + deadline_ms();
    while (path_of(watched->name).reason != reason) {
        require_message(now_ms() < end, "the reason is %d, not %d", path_of(watched->name).reason, reason);
        require(reach_queue_dispatch(watched->queue, 50) >= 0 || errno == EINTR);
    }
}

static void end(struct watched *watched)
{
    require(reach_set_queue(watched->name, NULL));
    reach_release(watched->name);
    reach_queue_release(watched->queue);
    require_int(recorder_releases(watched->events), 1);
    recorder_free(watched->events);
}

/* --------------------------------------------------------------------------------------------- answers of DNS --- */

static void records(void *argument)
{
    (void)argument;
    online_network();
    ip("route add unreachable 198.51.100.0/24\n"
       "-6 route add unreachable 2001:db8:dead::/48");
    dns_start(1, "--host-record=four.test,203.0.113.7", "--host-record=six.test,2001:db8:9::7",
              "--host-record=both.test,203.0.113.8,2001:db8:9::8", "--host-record=near.test,10.1.0.9",
              "--host-record=self.test,10.1.0.2", "--host-record=dead.test,198.51.100.1,2001:db8:dead::1",
              "--host-record=last.test,198.51.100.2,2001:db8:dead::2", "--host-record=last.test,203.0.113.9", NULL);
    static const struct {
        const char *host;
        reach_flags flags;
        const char *destination;
        uint32_t v4, v6;
    } rows[] = {
        { "four.test", reachable, "203.0.113.7", 1, 0 }, { "six.test", reachable, "2001:db8:9::7", 0, 1 },
        { "both.test", reachable, NULL, 1, 1 },          { "near.test", on_link, "10.1.0.9", 1, 0 },
        { "self.test", own, "10.1.0.2", 1, 0 },          { "dead.test", 0, NULL, 0, 0 },
        { "last.test", reachable, "203.0.113.9", 1, 0 }, { "FOUR.Test.", reachable, "203.0.113.7", 1, 0 },
    };
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++) {
        reach_target *unscheduled = target_name(rows[index].host);
        require_flags(unscheduled, reachable);
        require_int(path_of(unscheduled).reason, REACH_REASON_NOT_RESOLVED);
        reach_release(unscheduled);

        struct watched name = watch(rows[index].host);
        expect(&name, reachable);
        if (rows[index].flags != reachable) {
            expect(&name, rows[index].flags);
        } else {
            drive_until_reason(&name, REACH_REASON_REACHABLE);
        }
        require_flags(name.name, rows[index].flags);
        reach_path path = path_of(name.name);
        if (rows[index].destination != NULL) {
            require_text(path.destination, rows[index].destination);
        }
        require_int(path.ipv4_usable, rows[index].v4);
        require_int(path.ipv6_usable, rows[index].v6);
        require_int(recorder_pending(name.events), 0);
        /* Unscheduled again, it is not known to have addresses. */
        require(reach_set_queue(name.name, NULL));
        require_flags(name.name, reachable);
        require(reach_set_queue(name.name, name.queue));
        end(&name);
    }
}

static void no_such_name(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, NULL);
    struct watched name = watch("nosuch.test");
    expect(&name, reachable);
    expect(&name, 0);
    require_flags(name.name, 0);
    require_int(path_of(name.name).reason, REACH_REASON_NAME_NOT_FOUND);
    end(&name);
}

static void failing_server(void *argument)
{
    (void)argument;
    online_network();
    struct dns_fake *server = dns_fake_start(1, dns_failing);
    struct watched name = watch("name.test");
    expect(&name, reachable);
    expect(&name, 0);
    require_int(path_of(name.name).reason, REACH_REASON_RESOLVER_FAILED);
    /* It is asked again by itself, though nothing changes. */
    size_t queries = dns_fake_queries(server, "name.test");
    int64_t deadline = now_ms() + deadline_ms();
    while (dns_fake_queries(server, "name.test") <= queries) {
        require(now_ms() < deadline);
        require(reach_queue_dispatch(name.queue, 100) >= 0);
    }
    require_int(recorder_pending(name.events), 0);
    end(&name);
}

static void late_server(void *argument)
{
    (void)argument;
    online_network();
    struct watched name = watch("late.test");
    expect(&name, reachable);
    expect(&name, 0);
    require_int(path_of(name.name).reason, REACH_REASON_RESOLVER_FAILED);
    dns_start(1, "--host-record=late.test,203.0.113.7", NULL);
    expect(&name, reachable);
    end(&name);
}

static void hosts_file(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "127.0.0.1 localhost\n10.1.0.77 printer printer.lan\n");
    struct watched name = watch("printer.lan");
    expect(&name, reachable);
    expect(&name, on_link);
    end(&name);
    struct watched single = watch("printer");
    expect(&single, reachable);
    expect(&single, on_link);
    /* The file is watched too. */
    etc_replace("hosts", "127.0.0.1 localhost\n10.1.0.2 printer printer.lan\n");
    expect(&single, own);
    /* So is its going, for good or to another name. */
    require(rename("/etc/hosts", "/etc/hosts.away") == 0);
    expect(&single, 0);
    require(rename("/etc/hosts.away", "/etc/hosts") == 0);
    expect(&single, own);
    require(unlink("/etc/hosts") == 0);
    expect(&single, 0);
    end(&single);
}

static void new_resolv_conf(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=moving.test,10.1.0.50", NULL);
    dns_start(2, "--host-record=moving.test,10.1.0.2", NULL);
    struct watched name = watch("moving.test");
    expect(&name, reachable);
    expect(&name, on_link);
    etc_name_server(2);
    expect(&name, own);
    etc_name_server(1);
    expect(&name, on_link);
    /* Written in place, through a link. */
    require(rename("/etc/resolv.conf", "/etc/resolv.real") == 0);
    require(symlink("resolv.real", "/etc/resolv.conf") == 0);
    require(system("sed -i 's/127.0.0.1/127.0.0.2/' /etc/resolv.real") == 0);
    expect(&name, own);
    end(&name);
}

/* Writes a resolv.conf in place, or another file and puts that in its place. */
static void name_server_in(const char *path, int server, bool in_place)
{
    char command[256];
    snprintf(command, sizeof command, "printf 'nameserver 127.0.0.%d\\noptions timeout:1 attempts:1\\n' >%s%s", server,
             path, in_place ? "" : ".new");
    require(system(command) == 0);
    if (!in_place) {
        char fresh[128];
        snprintf(fresh, sizeof fresh, "%s.new", path);
        require(rename(fresh, path) == 0);
    }
}

/* As in a container: the file is from elsewhere and mounted over, so that nothing happens in its folder. */
static void mounted_resolv_conf(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=moving.test,10.1.0.50", NULL);
    dns_start(2, "--host-record=moving.test,10.1.0.2", NULL);
    require(mkdir("/etc/elsewhere", 0755) == 0);
    name_server_in("/etc/elsewhere/file", 1, true);
    require(mount("/etc/elsewhere/file", "/etc/resolv.conf", NULL, MS_BIND, NULL) == 0);
    struct watched name = watch("moving.test");
    expect(&name, reachable);
    expect(&name, on_link);
    for (int round = 0; round < 3; round++) {
        name_server_in("/etc/elsewhere/file", 2, true);
        expect(&name, own);
        name_server_in("/etc/resolv.conf", 1, true);
        expect(&name, on_link);
    }
    end(&name);
}

/* The file is a link into another folder, where new files take its place; then it leads to another folder. */
static void linked_resolv_conf(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=moving.test,10.1.0.50", NULL);
    dns_start(2, "--host-record=moving.test,10.1.0.2", NULL);
    require(mkdir("/etc/one", 0755) == 0 && mkdir("/etc/two", 0755) == 0);
    name_server_in("/etc/one/file", 1, true);
    name_server_in("/etc/two/file", 2, true);
    require(unlink("/etc/resolv.conf") == 0 && symlink("one/file", "/etc/resolv.conf") == 0);
    struct watched name = watch("moving.test");
    expect(&name, reachable);
    expect(&name, on_link);
    static const char *const files[] = { "/etc/one/file", "/etc/two/file" };
    for (int round = 0; round < 4; round++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            name_server_in(files[round % 2], 2, in_place);
            expect(&name, own);
            name_server_in(files[round % 2], 1, in_place);
            expect(&name, on_link);
        }
        const char *other = files[(round + 1) % 2];
        name_server_in(other, 2, true);
        require(symlink(other, "/etc/fresh") == 0 && rename("/etc/fresh", "/etc/resolv.conf") == 0);
        expect(&name, own);
        name_server_in(other, 1, true);
        expect(&name, on_link);
    }
    end(&name);
}

/* ----------------------------------------------------------------------------------------------------- the path --- */

/* A link whose file is yet to come, as the programs that make it leave one at boot. */
static void dangling_resolv_conf(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, NULL);
    dns_start(2, "--host-record=moving.test,10.1.0.2", NULL);
    require(mkdir("/etc/one", 0755) == 0);
    require(unlink("/etc/resolv.conf") == 0 && symlink("one/file", "/etc/resolv.conf") == 0);
    struct watched name = watch("moving.test");
    expect(&name, reachable);
    expect(&name, 0);
    name_server_in("/etc/one/file", 2, true);
    expect(&name, own);
    end(&name);
}

/* The file that the link leads to goes, and comes again. */
static void recreated_resolv_conf(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, NULL);
    dns_start(2, "--host-record=moving.test,10.1.0.2", NULL);
    require(mkdir("/etc/one", 0755) == 0);
    name_server_in("/etc/one/file", 2, true);
    require(unlink("/etc/resolv.conf") == 0 && symlink("one/file", "/etc/resolv.conf") == 0);
    struct watched name = watch("moving.test");
    expect(&name, reachable);
    expect(&name, own);
    require(unlink("/etc/one/file") == 0);
    expect(&name, 0);
    name_server_in("/etc/one/file", 2, true);
    expect(&name, own);
    end(&name);
}

static size_t count_watches(void)
{
    size_t count = 0;
    char line[512];
    FILE *watches = popen("cat /proc/$PPID/fdinfo/*", "r");
    require(watches != NULL);
    while (fgets(line, sizeof line, watches) != NULL) {
        count += strncmp(line, "inotify wd:", 11) == 0;
    }
    pclose(watches);
    return count;
}

/* A program that keeps its old files under other names does not make the library watch them all. */
static void kept_resolv_confs(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=known.test,10.1.0.9", NULL);
    struct watched name = watch("known.test");
    expect(&name, reachable);
    expect(&name, on_link);
    size_t watches = count_watches();
    require(watches > 0);
    for (int time = 0; time < 20; time++) {
        char kept[64];
        snprintf(kept, sizeof kept, "/etc/resolv.conf.%d", time);
        require(rename("/etc/resolv.conf", kept) == 0);
        etc_name_server(1);
        require(reach_queue_dispatch(name.queue, 0) >= 0);
        require_message(count_watches() <= watches, "%zu watches, not %zu", count_watches(), watches);
    }
    end(&name);
}

static void route_goes_and_comes(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=name.test,203.0.113.7", "--host-record=near.test,10.1.0.9", NULL);
    struct watched name = watch("name.test");
    expect(&name, reachable);
    drive_until_reason(&name, REACH_REASON_REACHABLE);
    for (int round = 0; round < 3; round++) {
        ip("route del default\n-6 route del default");
        expect(&name, 0);
        require_int(path_of(name.name).reason, REACH_REASON_NO_ROUTE);
        ip("route add default via 10.1.0.1 dev wan0");
        expect(&name, reachable);
        ip("-6 route add default via 2001:db8:1::1 dev wan0");
    }
    end(&name);
}

static void offline_from_the_start(void *argument)
{
    (void)argument;
    ip("link set lo up");
    etc_own();
    struct dns_fake *server = dns_fake_start(1, dns_failing);
    struct watched name = watch("name.test");
    reach_target *unscheduled = target_name("name.test");
    require_flags(unscheduled, 0);
    reach_release(unscheduled);
    expect(&name, 0);
    require_int(recorder_pending(name.events), 0);
    require_int(path_of(name.name).reason, REACH_REASON_NO_ROUTE);
    /* Nothing is asked where no answer could come from. */
    require_int(dns_fake_queries(server, NULL), 0);
    veth("wan0", "10.1.0.2/24");
    ip("route add default via 10.1.0.1 dev wan0");
    expect(&name, reachable);
    expect(&name, 0);
    require_int(path_of(name.name).reason, REACH_REASON_RESOLVER_FAILED);
    end(&name);
}

static void name_comes_true_with_the_path(void *argument)
{
    (void)argument;
    online_network();
    pid_t server = dns_start(1, NULL);
    struct watched name = watch("name.test");
    expect(&name, reachable);
    expect(&name, 0);
    dns_stop(server);
    dns_start(1, "--host-record=name.test,203.0.113.7", NULL);
    /* "No such name" is no failure and not retried, but asked again on another path. */
    ip("route del default\n-6 route del default\nroute add default via 10.1.0.3 dev wan0");
    expect(&name, reachable);
    end(&name);
}

/* Another link, gateway or source each mean another network, in which a name may mean something else. */
static void asked_again_on_another_path(void *argument)
{
    (void)argument;
    online_network();
    ip("-6 route del default\naddr add 10.1.0.3/24 dev wan0");
    veth("wan1", "10.2.0.2/24");
    static const char *const paths[] = { "via 10.1.0.9 dev wan0", "via 10.1.0.1 dev wan0 src 10.1.0.3",
                                         "via 10.2.0.1 dev wan1" };
    for (size_t index = 0; index < sizeof paths / sizeof *paths; index++) {
        pid_t server = dns_start(1, NULL);
        struct watched name = watch("name.test");
        expect(&name, reachable);
        expect(&name, 0);
        require_int(path_of(name.name).reason, REACH_REASON_NAME_NOT_FOUND);
        dns_stop(server);
        server = dns_start(1, "--host-record=name.test,203.0.113.7", NULL);
        ip("route replace default %s", paths[index]);
        expect(&name, reachable);
        end(&name);
        dns_stop(server);
        ip("route replace default via 10.1.0.1 dev wan0");
    }
}

/* The routes of the addresses that a name has now are heard of. */
static void own_routes_of_a_name(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "203.0.113.7 moving.test\n");
    struct watched name = watch("moving.test");
    expect(&name, reachable);
    drive_until_reason(&name, REACH_REASON_REACHABLE);
    static const char *const addresses[] = { "203.0.113.7", "198.51.100.9", "2001:db8:9::7" };
    for (size_t index = 0; index < sizeof addresses / sizeof *addresses; index++) {
        char hosts[64];
        snprintf(hosts, sizeof hosts, "%s moving.test\n", addresses[index]);
        etc_replace("hosts", hosts);
        int64_t end = now_ms() + deadline_ms();
        while (strcmp(path_of(name.name).destination, addresses[index]) != 0) {
            require_message(now_ms() < end, "the name does not move to %s", addresses[index]);
            require(reach_queue_dispatch(name.queue, 50) >= 0);
        }
        for (int round = 0; round < 2; round++) {
            ip("route add unreachable %s", addresses[index]);
            expect(&name, 0);
            ip("route del unreachable %s", addresses[index]);
            expect(&name, reachable);
        }
    }
    end(&name);
}

/* -------------------------------------------------------------------------------------------- the callback owed --- */

static void owed_once(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=name.test,203.0.113.7", NULL);
    struct watched name = watch("name.test");
    require_int(recorder_count(name.events), 0); /* never from inside the call */
    expect(&name, reachable);
    drive_until_reason(&name, REACH_REASON_REACHABLE);
    require_int(recorder_count(name.events), 1); /* the same answer is not given again */
    end(&name);
}

static void asking_takes_its_place(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=name.test,203.0.113.7", NULL);
    struct watched name = watch("name.test");
    require_flags(name.name, reachable);
    drive_until_reason(&name, REACH_REASON_REACHABLE);
    require_int(recorder_count(name.events), 0);
    ip("route del default\n-6 route del default");
    expect(&name, 0);
    end(&name);
}

static void owed_to_a_late_callback(void *argument)
{
    (void)argument;
    online_network();
    reach_queue *queue = reach_queue_create_manual();
    reach_target *name = target_name("localhost");
    struct recorder *events = recorder_create();
    require(reach_set_queue(name, queue));
    require_int(reach_queue_dispatch(queue, 0), 0);
    require(reach_set_callback(name, record_event, events, record_release));
    require_event(events, queue, name, own);
    require(reach_set_queue(name, NULL));
    reach_release(name);
    reach_queue_release(queue);
    recorder_free(events);
}

static void owed_again_after_rescheduling(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=name.test,203.0.113.7", NULL);
    struct watched name = watch("name.test");
    for (int round = 0; round < 3; round++) {
        expect(&name, reachable);
        require(reach_set_queue(name.name, NULL));
        require(reach_set_queue(name.name, name.queue));
    }
    expect(&name, reachable);
    end(&name);
}

/* ----------------------------------------------------------------------------------------- names that are none --- */

static void localhost(void *argument)
{
    (void)argument;
    etc_own();
    static const char *const names[] = { "localhost", "LOCALHOST", "localhost.", "a.localhost", "b.a.LocalHost." };
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        reach_target *name = target_name(names[index]);
        require_flags(name, 0);
        reach_release(name);
    }
    ip("link set lo up");
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        reach_target *name = target_name(names[index]);
        require_flags(name, own);
        reach_release(name);
    }
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    struct watched name = watch("a.localhost");
    expect(&name, own);
    require_int(dns_fake_queries(server, NULL), 0);
    end(&name);
    /* These are names like any other. */
    static const char *const others[] = { "localhost.example", "alocalhost", ".localhost" };
    for (size_t index = 0; index < sizeof others / sizeof *others; index++) {
        reach_target *other = target_name(others[index]);
        require_flags(other, 0);
        reach_release(other);
    }
}

static void address_text(void *argument)
{
    (void)argument;
    online_network();
    static const struct {
        const char *text;
        reach_flags flags;
    } rows[] = {
        { "127.1", own },           { "0x7f.1", own },        { "0177.0.0.01", own },  { "2130706433", own },
        { "127.0.0.1 and more", own }, { "10.1.9", on_link }, { "0x0a.1.0.9", on_link }, { "0", reachable },
        { "0.0.0.0", reachable },   { "0x0", reachable },     { "::", reachable },     { "::ffff:127.0.0.1", own },
        { "2001:db8:1::9", on_link }, { "fe80::1%wan0", on_link }, { "fe80::1%nosuch", 0 },
    };
    for (size_t index = 0; index < sizeof rows / sizeof *rows; index++) {
        reach_target *name = target_name(rows[index].text);
        if (strncmp(rows[index].text, "fe80", 4) == 0) {
            ip_try("-6 route add fe80::/64 dev wan0");
            ip_try("addr add fe80::2/64 dev wan0 nodad");
        }
        reach_flags flags = 0xffff;
        require(reach_get_flags(name, &flags));
        require_message(flags == rows[index].flags, "%s: %#x", rows[index].text, flags);
        reach_release(name);
    }
}

static void odd_names(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, NULL);
    char long_name[512] = "";
    for (int label = 0; label < 42; label++) {
        strcat(long_name, "abcde.");
    }
    strcat(long_name, "a"); /* 253 bytes */
    require_int(strlen(long_name), 253);
    char longer_name[520];
    snprintf(longer_name, sizeof longer_name, "%sb", long_name);
    char long_label[100];
    memset(long_label, 'x', 64);
    strcpy(long_label + 64, ".test");
    const char *const names[] = { "http://x/", "x:80",  " ",       ".",         "a..b",       "single",
                                  "b\xc3\xbc" "cher.test", "\xff\xfe", long_name, longer_name, long_label, "-x-.test" };
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        struct watched name = watch(names[index]);
        require_flags(name.name, reachable);
        expect(&name, 0);
        end(&name);
    }
}

/* ------------------------------------------------------------------------------------------ servers that hang --- */

static void patient_resolver(void)
{
    etc_replace("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n");
}

static void hanging_delays_nobody(void *argument)
{
    (void)argument;
    online_network();
    patient_resolver();
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    etc_replace("hosts", "10.1.0.77 known.test\n");
    struct watched hanging[4];
    for (size_t index = 0; index < 4; index++) {
        char host[32];
        snprintf(host, sizeof host, "hangs-%zu.test", index);
        hanging[index] = watch(host);
        expect(&hanging[index], reachable);
        dns_fake_wait(server, host, 1);
    }
    struct watched known = watch("known.test");
    expect(&known, reachable);
    expect(&known, on_link);
    /* The network goes on to be heard of, by those too whose look-up hangs. */
    ip("route del default\n-6 route del default");
    expect(&hanging[0], 0);
    expect(&known, 0);
    for (size_t index = 0; index < 4; index++) {
        end(&hanging[index]);
    }
    end(&known);
}

static void late_answers_are_dropped(void *argument)
{
    (void)argument;
    online_network();
    struct dns_fake *server = dns_fake_start(1, dns_silent); /* fails after a second */
    struct watched name = watch("name.test");
    expect(&name, reachable);
    dns_fake_wait(server, "name.test", 1);
    require(reach_set_queue(name.name, NULL));
    wait_threads(2); /* the test's and the server's: the look-up has ended */
    require_int(reach_queue_dispatch(name.queue, 0), 0);
    require_flags(name.name, reachable);
    require(reach_set_queue(name.name, name.queue));
    end(&name);
}

/* An answer that came, and then was out of date before anybody took it in. */
static void old_answers_are_dropped(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "10.1.0.77 moving.test\n");
    struct watched name = watch("moving.test");
    wait_threads(1); /* the look-up has ended */
    etc_replace("hosts", "10.1.0.2 moving.test\n");
    expect(&name, reachable);
    expect(&name, own);
    end(&name);
}

/* An answer that nobody has taken in keeps nothing alive. */
static void answers_without_takers(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "10.1.0.77 known.test\n");
    reach_is_online(); /* opens the sockets for questions */
    size_t descriptors = count_descriptors();
    for (int round = 0; round < 3; round++) {
        struct watched name = watch("known.test");
        wait_threads(1); /* the look-up has ended */
        end(&name);
        require_int(count_descriptors(), descriptors);
    }
}

/* More look-ups than there are threads for: the one that waits is not made when it is no longer wanted. */
static void waiting_in_vain(void *argument)
{
    (void)argument;
    online_network();
    struct dns_fake *server = dns_fake_start(1, dns_silent); /* fails after a second */
    enum { threads = 32 };
    struct watched hanging[threads];
    for (int index = 0; index < threads; index++) {
        char host[32];
        snprintf(host, sizeof host, "hangs-%d.test", index);
        hanging[index] = watch(host);
    }
    struct watched last = watch("waits.test");
    end(&last);
    for (int index = 0; index < threads; index++) {
        char host[32];
        snprintf(host, sizeof host, "hangs-%d.test", index);
        dns_fake_wait(server, host, 1);
        end(&hanging[index]);
    }
    wait_threads(2); /* the test's and the server's */
    require_int(dns_fake_queries(server, "waits.test"), 0);
}

/*
 * The network changes twice while a name is looked up. The second change does not give up a look-up again, but when
 * that one has ended, with what was so before, the name is looked up once more.
 */
static void changed_twice_meanwhile(void *argument)
{
    (void)argument;
    online_network();
    ip("-6 route del default");
    dns_start(2, NULL);
    etc_replace("resolv.conf", "nameserver 127.0.0.1\nnameserver 127.0.0.2\noptions timeout:1 attempts:1\n");
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    struct watched name = watch("name.test");
    expect(&name, reachable);
    dns_fake_wait(server, "name.test", 2);
    ip("route replace default via 10.1.0.3 dev wan0");
    require(reach_queue_dispatch(name.queue, 0) >= 0);
    dns_fake_wait(server, "name.test", 4);
    etc_replace("hosts", "10.1.0.77 name.test\n");
    expect(&name, 0);
    expect(&name, on_link);
    end(&name);
}

static void exit_does_not_wait(void *argument)
{
    (void)argument;
    online_network();
    patient_resolver();
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        struct watched name = watch("name.test");
        struct event event = next_event(name.events, name.queue);
        exit(event.flags == reachable ? 7 : 8);
    }
    int status = 0;
    require(waitpid(child, &status, 0) == child); /* a scenario that hangs is ended, and has failed */
    require(WIFEXITED(status));
    require_int(WEXITSTATUS(status), 7);
    (void)server;
}

/* Counts the system calls of one thread between two calls of getppid, by tracing it. */
static long calls_between_markers(pid_t child)
{
    int status;
    long calls = -1;
    bool entering = true;
    require(waitpid(child, &status, 0) == child);
    require(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD) == 0);
    for (;;) {
        require(ptrace(PTRACE_SYSCALL, child, NULL, 0) == 0);
        require(waitpid(child, &status, __WALL) == child);
        if (WIFEXITED(status)) {
            require_int(WEXITSTATUS(status), 0);
            return -1;
        }
        if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            continue;
        }
        struct __ptrace_syscall_info information;
        require(ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof information, &information) > 0);
        entering = information.op == PTRACE_SYSCALL_INFO_ENTRY;
        if (!entering) {
            continue;
        }
        if (information.entry.nr == 110 /* getppid on x86-64 */ || information.entry.nr == 173 /* on arm64 */) {
            if (calls >= 0) {
                ptrace(PTRACE_DETACH, child, NULL, 0);
                return calls;
            }
            calls = 0;
        } else if (calls >= 0) {
            calls++;
        }
    }
}

static void asking_while_it_hangs(void *argument)
{
    (void)argument;
    online_network();
    patient_resolver();
    struct dns_fake *server = dns_fake_start(1, dns_silent);
    (void)server;
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        struct watched name = watch("name.test");
        next_event(name.events, name.queue);
        reach_flags flags;
        reach_get_flags(name.name, &flags);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        (void)getppid();
        bool asked = reach_get_flags(name.name, &flags);
        (void)getppid();
        _exit(asked && flags == reachable ? 0 : 1);
    }
    long calls = calls_between_markers(child);
    require_message(calls >= 1 && calls <= 4, "%ld system calls", calls);
    int status;
    require(waitpid(child, &status, 0) == child);
    require(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ------------------------------------------------------------------------------------------------- many names --- */

static void equal_names_share(void *argument)
{
    (void)argument;
    online_network();
    struct dns_fake *server = dns_fake_start(1, dns_failing);
    reach_queue *queue = reach_queue_create_manual();
    struct recorder *events = recorder_create();
    enum { count = 50 };
    reach_target *names[count];
    for (size_t index = 0; index < count; index++) {
        names[index] = target_name("same.test");
        require(reach_set_callback(names[index], record_event, events, NULL));
        require(reach_set_queue(names[index], queue));
    }
    for (size_t index = 0; index < 2 * count; index++) {
        next_event(events, queue);
    }
    /* One look-up asks for both families. */
    require_message(dns_fake_queries(server, "same.test") <= 2, "%zu queries", dns_fake_queries(server, "same.test"));
    for (size_t index = 0; index < count; index++) {
        require(reach_set_queue(names[index], NULL));
        reach_release(names[index]);
    }
    reach_queue_release(queue);
    recorder_free(events);
}

/* What others on the queue have found out about a name is known of it as soon as it is scheduled. */
static void known_to_the_queue(void *argument)
{
    (void)argument;
    online_network();
    dns_start(1, "--host-record=near.test,10.1.0.9", NULL);
    struct watched first = watch("near.test");
    expect(&first, reachable);
    expect(&first, on_link);
    reach_target *asked = target_name("near.test");
    require_flags(asked, reachable);
    require(reach_set_queue(asked, first.queue));
    require_flags(asked, on_link);
    require(reach_set_queue(asked, NULL));
    require_flags(asked, reachable);
    reach_release(asked);
    /* The callback that is owed comes first all the same. */
    reach_target *told = target_name("near.test");
    require(reach_set_callback(told, record_event, first.events, NULL));
    require(reach_set_queue(told, first.queue));
    require_event(first.events, first.queue, told, reachable);
    require_event(first.events, first.queue, told, on_link);
    require(reach_set_queue(told, NULL));
    reach_release(told);
    end(&first);
}

static void a_thousand_names(void *argument)
{
    (void)argument;
    online_network();
    struct dns_fake *server = dns_fake_start(1, dns_dropping_half);
    (void)server;
    size_t descriptors = count_descriptors();
    reach_queue *queue = reach_queue_create_manual();
    struct recorder *events = recorder_create();
    enum { count = 1000 };
    reach_target *names[count];
    for (size_t index = 0; index < count; index++) {
        char host[32];
        snprintf(host, sizeof host, "n%zu.test", index);
        names[index] = target_name(host);
        require(reach_set_callback(names[index], record_event, events, NULL));
        require(reach_set_queue(names[index], queue));
    }
    size_t most_threads = 0;
    size_t most_descriptors = 0;
    for (size_t settled = 0; settled < count;) {
        struct event event = next_event(events, queue);
        settled += event.flags == 0;
        size_t threads = count_threads();
        size_t open = count_descriptors();
        most_threads = threads > most_threads ? threads : most_threads;
        most_descriptors = open > most_descriptors ? open : most_descriptors;
    }
    require_message(most_threads <= 40, "%zu threads", most_threads);
    require_message(most_descriptors <= descriptors + 60, "%zu descriptors", most_descriptors - descriptors);
    for (size_t index = 0; index < count; index++) {
        require(reach_set_queue(names[index], NULL));
        reach_release(names[index]);
    }
    reach_queue_release(queue);
    wait_threads(2);
    size_t left = count_descriptors() - descriptors;
    require_message(left <= 2, "%zu descriptors are left", left);
    recorder_free(events);
}

/* However often a name is given up that hangs, it does not take the threads that others need. */
static void one_name_takes_few_threads(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    dns_fake_start(1, dns_silent);
    etc_name_server(1);
    reach_target *stuck = target_name("stuck.test");
    reach_target *known = target_name("known.test");
    reach_queue *queue = reach_queue_create_manual();
    size_t threads = count_threads();
    for (int time = 0; time < 50; time++) {
        require_refused(reach_wait(stuck, 1, NULL), false, ETIMEDOUT);
        require(reach_set_queue(stuck, queue));
        require(reach_set_queue(stuck, NULL));
        require_message(count_threads() <= threads + 4, "%zu threads look up one name", count_threads() - threads);
    }
    require_message(reach_wait(known, deadline_ms(), NULL), "%s", errno_name(errno));
    reach_queue_release(queue);
    reach_release(stuck);
    reach_release(known);
}

struct mover {
    reach_target *name;
    atomic_int round, done;
};

static void *unschedule_each_round(void *argument)
{
    struct mover *mover = argument;
    for (int round = 0; round >= 0;) {
        int next = atomic_load(&mover->round);
        if (next != round && next >= 0) {
            reach_set_queue(mover->name, NULL);
            atomic_store(&mover->done, next);
        }
        round = next;
    }
    return NULL;
}

/* A name that is taken off a queue by one thread and put onto one again by another at the same time: what was found out
 * for the new place is not lost with the old one. */
static void moved_by_two_threads(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "203.0.113.9 known.test\n");
    reach_queue *queue = reach_queue_create("moves");
    struct mover mover = { .name = target_name("known.test") };
    reach_target *other = target_name("known.test");
    require(reach_set_queue(other, queue));
    require(reach_set_queue(mover.name, queue));
    pthread_t thread;
    require_int(pthread_create(&thread, NULL, unschedule_each_round, &mover), 0);
    for (int round = 1; round <= 300; round++) {
        atomic_store(&mover.round, round);
        while (!reach_set_queue(mover.name, queue)) {
            require_int(errno, EBUSY);
        }
        while (atomic_load(&mover.done) != round) {
            sched_yield();
        }
        if (reach_set_queue(mover.name, queue)) {
            continue; /* it was put there before it was taken off */
        }
        require_int(errno, EBUSY);
        int64_t end = now_ms() + deadline_ms();
        while (path_of(mover.name).reason != REACH_REASON_REACHABLE) {
            require_message(now_ms() < end, "in round %d its addresses are not known", round);
            sched_yield();
        }
    }
    atomic_store(&mover.round, -1);
    require_int(pthread_join(thread, NULL), 0);
    require(reach_set_queue(mover.name, NULL));
    require(reach_set_queue(other, NULL));
    reach_release(mover.name);
    reach_release(other);
    reach_queue_release(queue);
}

/* What the parent found out about a name that it has scheduled is not known to a child that has not. */
static void found_out_by_the_parent(void *argument)
{
    (void)argument;
    online_network();
    etc_replace("hosts", "10.1.0.9 known.test\n");
    struct watched name = watch("known.test");
    expect(&name, reachable);
    expect(&name, on_link);
    fflush(NULL);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        require_flags(name.name, reachable);
        require_int(path_of(name.name).reason, REACH_REASON_NOT_RESOLVED);
        _exit(0);
    }
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_int(status, 0);
    require_flags(name.name, on_link);
    end(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(records),
        namespace_test(no_such_name),
        namespace_test(failing_server),
        namespace_test(late_server),
        namespace_test(hosts_file),
        namespace_test(new_resolv_conf),
        namespace_test(mounted_resolv_conf),
        namespace_test(linked_resolv_conf),
        namespace_test(dangling_resolv_conf),
        namespace_test(recreated_resolv_conf),
        namespace_test(kept_resolv_confs),
        namespace_test(route_goes_and_comes),
        namespace_test(offline_from_the_start),
        namespace_test(name_comes_true_with_the_path),
        namespace_test(asked_again_on_another_path),
        namespace_test(own_routes_of_a_name),
        namespace_test(owed_once),
        namespace_test(asking_takes_its_place),
        namespace_test(owed_to_a_late_callback),
        namespace_test(owed_again_after_rescheduling),
        namespace_test(localhost),
        namespace_test(address_text),
        namespace_test(odd_names),
        namespace_test(hanging_delays_nobody),
        namespace_test(late_answers_are_dropped),
        namespace_test(old_answers_are_dropped),
        namespace_test(answers_without_takers),
        namespace_test(waiting_in_vain),
        namespace_test(changed_twice_meanwhile),
        namespace_test(exit_does_not_wait),
        namespace_test(asking_while_it_hangs),
        namespace_test(equal_names_share),
        namespace_test(known_to_the_queue),
        namespace_test(one_name_takes_few_threads),
        namespace_test(moved_by_two_threads),
        namespace_test(found_out_by_the_parent),
        namespace_test(a_thousand_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
