/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * One process that lives through many changes and is asked after each: no loop runs in it and no thread exists, so it
 * has nothing but the call itself to notice with. The rows follow one another; each says what holds after its script.
 */
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO 0u
#define YES REACH_FLAG_REACHABLE
#define NEAR (REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT)
#define TUN (REACH_FLAG_REACHABLE | REACH_FLAG_TRANSIENT_CONNECTION)
#define WAIT (TUN | REACH_FLAG_CONNECTION_REQUIRED)

/* What is asked after each change, in the order of the columns below. */
enum { internet, address4, address6, neighbour, pair, name, questions };

static const char *const question_names[questions] = {
    "the internet", "an IPv4 address", "an IPv6 address", "a neighbour", "a pair from 10.2.0.2", "a name",
};

struct step {
    const char *script;
    reach_flags internet, address4, address6, neighbour, pair;
};

static const struct step steps[] = {
    { "link set lo up\nveth wan0 10.1.0.2/24", NO, NO, NO, NEAR, NO },
    /* The changes that a well-known library got wrong. */
    { "route add default via 10.1.0.1", YES, YES, NO, NEAR, NO },
    { "pull wan0", NO, NO, NO, NO, NO },
    { "plug wan0", YES, YES, NO, NEAR, NO },
    { "link set wan0 down", NO, NO, NO, NO, NO },
    { "link set wan0 up\nrunning wan0", NO, NO, NO, NEAR, NO },
    { "route add 0.0.0.0/1 via 10.1.0.1\nroute add 128.0.0.0/1 via 10.1.0.1", YES, YES, NO, NEAR, NO },
    { "route del 128.0.0.0/1", YES, NO, NO, NEAR, NO },
    { "route del 0.0.0.0/1", NO, NO, NO, NEAR, NO },
    { "route add default via 10.1.0.1 table 100", NO, NO, NO, NEAR, NO },
    /* A rule that is added comes before the one for the main table: the neighbour is now behind the router too. */
    { "rule add lookup 100", YES, YES, NO, YES, NO },
    { "rule del lookup 100", NO, NO, NO, NEAR, NO },
    { "route add default via 10.1.0.1 metric 50", YES, YES, NO, NEAR, NO },
    { "route add unreachable default metric 5", NO, NO, NO, NEAR, NO },
    { "route del unreachable default metric 5", YES, YES, NO, NEAR, NO },
    { "address del 10.1.0.2/24 dev wan0", NO, NO, NO, NO, NO },
    /* Routes that lose and get gateways. */
    { "address add 10.1.0.2/24 dev wan0", NO, NO, NO, NEAR, NO },
    { "route add default dev wan0", YES, NEAR, NO, NEAR, NO },
    { "route replace default via 10.1.0.1", YES, YES, NO, NEAR, NO },
    { "route change default via 10.1.0.1 mtu 1400", YES, YES, NO, NEAR, NO },
    /* A second link, of both families. */
    { "veth wan1 10.2.0.2/24 2001:db8:2::2/64", YES, YES, NO, NEAR, YES },
    { "rule add from 10.2.0.2 prohibit", YES, YES, NO, NEAR, NO },
    { "rule del from 10.2.0.2 prohibit", YES, YES, NO, NEAR, YES },
    { "route add ::/0 via fe80::1 dev wan1", YES, YES, YES, NEAR, YES },
    { "route del default", YES, NO, YES, NEAR, NO },
    { "route add blackhole 2001:db8:ffff::9", YES, NO, NO, NEAR, NO },
    { "route del blackhole 2001:db8:ffff::9", YES, NO, YES, NEAR, NO },
    { "address del 2001:db8:2::2/64 dev wan1", NO, NO, NO, NEAR, NO },
    { "sysctl net/ipv6/conf/wan1/dad_transmits 600\naddress add 2001:db8:2::3/64 dev wan1", NO, NO, NO, NEAR, NO },
    { "address add 2001:db8:2::4/64 dev wan1 nodad", YES, NO, YES, NEAR, NO },
    { "address change 2001:db8:2::4/64 dev wan1 preferred_lft 0", YES, NO, YES, NEAR, NO },
    { "route append ::/0 via fe80::2 dev wan1", YES, NO, YES, NEAR, NO },
    { "route del ::/0 via fe80::1 dev wan1", YES, NO, YES, NEAR, NO },
    { "-6 rule add pref 10 blackhole", NO, NO, NO, NEAR, NO },
    { "-6 rule del pref 10 blackhole", YES, NO, YES, NEAR, NO },
    { "pull wan1", NO, NO, NO, NEAR, NO },
    { "plug wan1", YES, NO, YES, NEAR, NO },
    { "link set wan1 state dormant\nstopped wan1", WAIT, NO, WAIT, NEAR, NO },
    { "link set wan1 state up\nrunning wan1", YES, NO, YES, NEAR, NO },
    { "route del ::/0 via fe80::2 dev wan1", NO, NO, NO, NEAR, NO },
    /* Nexthop objects, and several next hops. */
    { "nexthop add id 4 via 10.1.0.1 dev wan0\nroute add default nhid 4", YES, YES, NO, NEAR, YES },
    { "nexthop replace id 4 via 10.2.0.1 dev wan1", YES, YES, NO, NEAR, YES },
    { "nexthop del id 4", NO, NO, NO, NEAR, NO },
    { "route add default nexthop via 10.1.0.1 dev wan0 nexthop via 10.2.0.1 dev wan1", YES, YES, NO, NEAR, YES },
    { "pull wan0", YES, YES, NO, NO, YES },
    { "pull wan1", NO, NO, NO, NO, NO },
    { "plug wan0", YES, YES, NO, NEAR, YES },
    { "plug wan1", YES, YES, NO, NEAR, YES },
    { "route del default", NO, NO, NO, NEAR, NO },
    /* Links that come and go. */
    { "link add link wan0 name vlan0 type macvlan mode bridge\nlink set vlan0 up\nrunning vlan0\n"
      "address add 10.3.0.2/24 dev vlan0\nroute add default via 10.3.0.1", YES, YES, NO, NEAR, YES },
    { "pull wan0\nstopped vlan0", NO, NO, NO, NO, NO },
    { "plug wan0\nrunning vlan0", YES, YES, NO, NEAR, YES },
    { "link del vlan0", NO, NO, NO, NEAR, NO },
    { "route add default via 10.2.0.1", YES, YES, NO, NEAR, YES },
    { "link del wan1", NO, NO, NO, NEAR, NO },
    { "route add default via 10.1.0.1", YES, YES, NO, NEAR, NO },
    { "route add local 0.0.0.0/0 dev lo table 100\nrule add fwmark 1 lookup 100", YES, YES, NO, NEAR, NO },
    { "link del wan0", NO, NO, NO, NO, NO },
};

/* The same with a tunnel in it, for which a tun link is needed. */
static const struct step tunnel_steps[] = {
    { "veth wan0 10.1.0.2/24\nroute add default via 10.1.0.1", YES, YES, NO, NEAR, NO },
    { "tun vpn0\nlink set vpn0 up\naddress add 10.9.0.2/32 dev vpn0", YES, YES, NO, NEAR, NO },
    { "route add 0.0.0.0/1 dev vpn0\nroute add 128.0.0.0/1 dev vpn0", TUN, TUN, NO, NEAR, NO },
    { "close vpn0", YES, YES, NO, NEAR, NO },
    { "tun vpn0 512\nlink set vpn0 up\naddress add 10.9.0.2/32 dev vpn0\n"
      "route replace default dev vpn0", TUN, TUN, NO, NEAR, NO },
    { "close vpn0", NO, NO, NO, NEAR, NO },
    { "tun modem0 519\nlink set modem0 up\naddress add 2001:db8:9::2/64 dev modem0 nodad\nroute add ::/0 dev modem0",
      TUN | REACH_FLAG_IS_WWAN, NO, TUN | REACH_FLAG_IS_WWAN, NEAR, NO },
    { "route add ::/0 via fe80::1 dev wan0 metric 1", YES, NO, YES, NEAR, NO },
};

static void make_targets(reach_target *targets[questions])
{
    targets[internet] = target("0.0.0.0");
    targets[address4] = target("198.51.100.9");
    targets[address6] = target("2001:db8:ffff::9");
    targets[neighbour] = target("10.1.0.77");
    targets[pair] = target_pair("10.2.0.2", "198.51.100.9");
    targets[name] = target_name("host.example");
}

static void check(const struct step *step, const char *who, reach_target *targets[questions])
{
    const reach_flags expected[questions] = {
        step->internet, step->address4, step->address6, step->neighbour, step->pair, step->internet,
    };
    for (int question = 0; question < questions; question++) {
        reach_flags flags = 0xdeadbeef;
        require_message(reach_get_flags(targets[question], &flags), "%s: %s", step->script, errno_name(errno));
        require_message(flags == expected[question], "after \"%s\", in %s: the flags of %s are 0x%x, not 0x%x",
                        step->script, who, question_names[question], flags, expected[question]);
    }
}

/* A child opens its own sockets and must not be fooled by what its parent had learnt. */
static void check_in_child(const struct step *step, reach_target *targets[questions])
{
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        check(step, "a forked child", targets);
        _exit(0);
    }
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_message(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a forked child was wrong");
}

struct walk {
    const struct step *steps;
    size_t count;
    size_t stride; /* ask after each so many changes */
    bool children;
};

static void walk(void *argument)
{
    const struct walk *walk = argument;
    reach_target *targets[questions];
    make_targets(targets);
    size_t threads = count_threads(); /* a sanitizer may have one of its own */
    size_t descriptors = 0;
    for (size_t index = 0; index < walk->count; index++) {
        network(walk->steps[index].script);
        if ((index + 1) % walk->stride != 0 && index + 1 != walk->count) {
            continue;
        }
        check(&walk->steps[index], "this process", targets);
        if (walk->children) {
            check_in_child(&walk->steps[index], targets);
            check(&walk->steps[index], "this process, after a child", targets);
        }
        require_message(count_threads() == threads, "asking started a thread");
        /* By the middle everything is open that ever will be; tun links are held by descriptors of the test's. */
        if (walk->steps == steps && index >= walk->count / 2) {
            descriptors = descriptors == 0 ? count_descriptors() : descriptors;
            require_int(count_descriptors(), descriptors);
        }
    }
    for (int question = 0; question < questions; question++) {
        reach_release(targets[question]);
    }
}

int main(void)
{
    enum { count = sizeof steps / sizeof *steps, tunnel_count = sizeof tunnel_steps / sizeof *tunnel_steps };
    struct walk each = { steps, count, 1, false };
    struct walk children = { steps, count, 1, true };
    struct walk third = { steps, count, 3, false };
    struct walk seventh = { steps, count, 7, false };
    struct walk tunnels = { tunnel_steps, tunnel_count, 1, true };
    const struct CMUnitTest tests[] = {
        namespace_test_with("asked after each change", walk, &each),
        namespace_test_with("asked after each change, in forked children too", walk, &children),
        namespace_test_with("asked after every third change", walk, &third),
        namespace_test_with("asked after every seventh change", walk, &seventh),
        namespace_test_with("asked while tunnels and modems come and go", walk, &tunnels),
    };
    print_message("%d changes in a row, and %d with tunnels\n", (int)count, (int)tunnel_count);
    return cmocka_run_group_tests_name("sequence", tests, NULL, NULL);
}
