/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The harness of the C tests. It is used together with cmocka, and a test program looks like this:
 *
 *     #include "support.h"
 *
 *     static void default_route(void *argument)
 *     {
 *         (void)argument;
 *         veth("wan0", "10.1.0.2/24");                          // a cable, an address on this end, and both ends up
 *         ip("route add default via 10.1.0.1 dev wan0");        // fails the scenario when ip fails
 *
 *         reach_target *internet = target("0.0.0.0");
 *         require_flags(internet, REACH_FLAG_REACHABLE);
 *         reach_release(internet);
 *     }
 *
 *     int main(void)
 *     {
 *         const struct CMUnitTest tests[] = {
 *             namespace_test(default_route),
 *         };
 *         return cmocka_run_group_tests(tests, NULL, NULL);
 *     }
 *
 * and is built by one rule in a make fragment (mk/test-c.mk defines the variables and the pattern):
 *
 *     $(BUILD)/tests/mine: Tests/Somewhere/mine.c $(SUPPORT_LIB) $(BUILD)/libreach.so
 *             $(CC) $(SUPPORT_CFLAGS) -o $@ $< $(SUPPORT_LIBS)
 *
 * Where a scenario runs. Each namespace_test runs in a process forked for it, in a user, network and mount namespace of
 * its own: it is root there whoever started the test, sees only a loopback link that is down, can make links,
 * addresses, routes and rules as it likes, and leaves nothing behind. /sys shows that namespace. The parent collects
 * what the child prints and shows it when the scenario fails. A process_test runs in a forked process without
 * namespaces, for tests that spoil their process (resource limits, sandboxes). A scenario that hangs is ended after a
 * minute and has failed.
 *
 * Saying no. require() and its relatives end the scenario at once and may be used on any thread, in callbacks too.
 * cmocka's own assert_ functions work on the scenario's first thread only. skip_scenario() skips aloud; when the
 * environment has CI=true, that is a failure, as is a kernel that refuses the namespaces.
 *
 * Waiting. Nothing here sleeps. A wait ends with the event it waits for and fails the scenario after deadline_ms(),
 * which is generous and is multiplied by REACH_TEST_PATIENCE in the environment (valgrind runs set it). To show that
 * something does not happen, provoke something that does happen after it, and look that nothing else came: see struct
 * barrier.
 *
 * Choosing. With REACH_TEST_ONLY in the environment only the tests whose names match that pattern are run (* and ?).
 *
 * What the kernel does late. Carrier changes reach routing some time after `ip` has returned, and so do duplicate
 * address detection and link-local addresses. Call wait_link_running() or wait_address_usable() after commands that
 * have such an effect, and give IPv6 addresses `nodad` where detection is not the point. Even these take a moment, for
 * which veth() and network() wait by themselves. veth() turns off link-local addresses.
 */
#ifndef REACH_TESTS_SUPPORT_H
#define REACH_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cmocka.h>

#include <reach.h>

#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

/* --------------------------------------------------------------------------------------------------- scenarios --- */

typedef void (*scenario_function)(void *argument);

struct scenario {
    scenario_function function;
    void *argument;
};

/* Entries of a CMUnitTest array that stands in a function. The _with forms hand an argument to the scenario. */
#define namespace_test(f) namespace_test_with(#f, f, NULL)
#define namespace_test_with(name, f, argument) \
    { name, run_in_namespace, NULL, NULL, &(struct scenario){ f, argument } }
#define process_test(f) process_test_with(#f, f, NULL)
#define process_test_with(name, f, argument) \
    { name, run_in_process, NULL, NULL, &(struct scenario){ f, argument } }

/* cmocka test functions; *state points to a struct scenario. */
void run_in_namespace(void **state);
void run_in_process(void **state);

/* End the scenario, from any thread. */
_Noreturn void fail_scenario(const char *file, int line, const char *format, ...) PRINTF_LIKE(3, 4);
_Noreturn void skip_scenario(const char *format, ...) PRINTF_LIKE(1, 2);

#define require(condition) \
    do { \
        if (!(condition)) { \
            fail_scenario(__FILE__, __LINE__, "not true: %s", #condition); \
        } \
    } while (0)

#define require_message(condition, ...) \
    do { \
        if (!(condition)) { \
            fail_scenario(__FILE__, __LINE__, __VA_ARGS__); \
        } \
    } while (0)

#define require_int(actual, expected) \
    require_int_at(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define require_text(actual, expected) require_text_at(__FILE__, __LINE__, #actual, actual, expected)

/* The condition is false and errno is the expected one. errno is set to 0 before, so that a stale one does not pass. */
#define require_refused(call, failure, expected_errno) \
    do { \
        errno = 0; \
        bool refused_ = (call) == (failure); \
        int errno_ = errno; \
        require_message(refused_, "succeeded: %s", #call); \
        require_message(errno_ == (expected_errno), "%s: errno is %s, not %s", #call, errno_name(errno_), \
                        errno_name(expected_errno)); \
    } while (0)

void require_int_at(const char *file, int line, const char *what, long long actual, long long expected);
void require_text_at(const char *file, int line, const char *what, const char *actual, const char *expected);
const char *errno_name(int number);

/* ----------------------------------------------------------------------------------------------------- network --- */

/*
 * Runs one ip(8) command for each line of the text, in this namespace. The word "ip" itself is left out; of its options
 * a leading -4 or -6 is understood. Fails the scenario at the first command that fails.
 */
void ip(const char *format, ...) PRINTF_LIKE(1, 2);

/* As ip, but says whether all commands worked, and keeps quiet when not. */
bool ip_try(const char *format, ...) PRINTF_LIKE(1, 2);

/* As ip, with text of any length that was made already. */
void ip_text(const char *text);

/* A second network namespace, for the other ends of cables: a machine that this one talks to. Made at first use. */
void ip_peer(const char *format, ...) PRINTF_LIKE(1, 2);

/* The path under which `ip link set X netns PATH` finds the second namespace. */
const char *peer_netns(void);

/*
 * A cable: a veth link NAME in this namespace with the given addresses (NULL ends the list; IPv6 ones get nodad), whose
 * other end is called NAME-far, is up and lies in the second namespace. Returns when the link runs.
 */
#define veth(...) veth_with_addresses(__VA_ARGS__, (const char *)NULL)
void veth_with_addresses(const char *name, ...);

/* Pulls the cable out of NAME, or puts it back, and returns when the kernel has noticed on this end. */
void cable_pull(const char *name);
void cable_plug(const char *name);

/*
 * A tun (or tap) link, not yet up. arphrd is its device type, 0 for the kind's own: 512 plays PPP, 519 a cellular
 * modem's raw IP. The link has a carrier as long as the returned descriptor is open. Skips when /dev/net/tun may not be
 * used.
 */
int tun(const char *name, int arphrd);
int tap(const char *name);

/* Writes a file below /proc/sys/, such as "net/ipv6/conf/wan0/dad_transmits". */
void sysctl_write(const char *path, const char *value);

/* Wait for what the kernel does late. The first is about IFF_RUNNING as the kernel tells it. */
void wait_link_running(const char *name, bool running);
void wait_address_usable(const char *ipv6_address);
void wait_address_failed(const char *ipv6_address);

/*
 * Runs a script, one command a line; # begins a comment line. What is none of these words is a command for ip:
 *
 *     veth NAME [ADDRESS...]      pull NAME      plug NAME          see veth, cable_pull, cable_plug
 *     tun NAME [ARPHRD]           tap NAME       close NAME         see tun; close takes its carrier away
 *     sysctl PATH VALUE           peer IP-COMMAND                   see sysctl_write, ip_peer
 *     running NAME                stopped NAME                      see wait_link_running
 *     usable ADDRESS              failed ADDRESS                    see wait_address_usable, wait_address_failed
 *     for FIRST LAST IP-COMMAND                                     the command for each number, which replaces every #
 */
void network(const char *script);

/* Looks whenever links, addresses, routes or rules of this namespace change until the condition is true. */
void wait_for_network(bool (*condition)(const void *argument), const void *argument, const char *what);

/* ----------------------------------------------------------------------------------------------------- targets --- */

/* An address in text, with %link for a scope, as a sockaddr. Returns its length; fails the scenario when it is none. */
socklen_t parse_address(const char *text, struct sockaddr_storage *address);

/* An address target, made through reach_create_with_address. */
reach_target *target(const char *address);

/* A pair target; NULL leaves a side out. */
reach_target *target_pair(const char *local, const char *remote);

/* A name target. */
reach_target *target_name(const char *name);

/* Asks, and compares the whole flag word. */
#define require_flags(target, expected) require_flags_at(__FILE__, __LINE__, target, #target, expected)
void require_flags_at(const char *file, int line, reach_target *target, const char *what, reach_flags expected);

/* Asks reach_get_path; fails the scenario when it fails. */
reach_path path_of(reach_target *target);

/* ---------------------------------------------------------------------------------------------------- deadlines --- */

/* How long an event may take before it counts as missing. */
int deadline_ms(void);

/* Waits until a descriptor is readable; fails the scenario when the time is over. */
void wait_readable(int descriptor);

/* The same, but says whether it became readable within the given time. 0 looks only. */
bool is_readable(int descriptor, int timeout_ms);

/* Milliseconds on the monotonic clock. */
int64_t now_ms(void);

/* ------------------------------------------------------------------------------------------------------ events --- */

struct event {
    reach_target *target;
    reach_flags flags;
    uint64_t thread; /* the kernel's id of the thread the callback ran on */
};

/*
 * What callbacks reported, in order. Hand record_event to reach_set_callback with the recorder as info, and
 * record_release as the release function. One recorder may serve many targets, on many queues.
 */
struct recorder;

struct recorder *recorder_create(void);
void recorder_free(struct recorder *recorder);
void record_event(reach_target *target, reach_flags flags, void *recorder);
void record_release(void *recorder);
void record(struct recorder *recorder, reach_target *target, reach_flags flags);

/* How many events came in all, how many were taken by next_event, and how often info was released. */
size_t recorder_count(struct recorder *recorder);
size_t recorder_pending(struct recorder *recorder);
size_t recorder_releases(struct recorder *recorder);

/*
 * The next event that was not taken yet; waits for it. For a manual queue, which nobody else drives, queue is
 * dispatched meanwhile; for a thread queue hand in NULL.
 */
struct event next_event(struct recorder *recorder, reach_queue *manual);
void wait_releases(struct recorder *recorder, reach_queue *manual, size_t count);

/* The next event is this one; waits for it. */
#define require_event(recorder, manual, target, flags) \
    require_event_at(__FILE__, __LINE__, recorder, manual, target, flags)
void require_event_at(const char *file, int line, struct recorder *recorder, reach_queue *manual, reach_target *target,
                      reach_flags flags);

/*
 * A proof that a queue has nothing more to say. A barrier has a target of its own on the queue, whose answer it changes
 * and changes back, each time waiting for the callback. Once both have come, the queue has looked at everything that
 * happened before. The loopback link must be up. Make it with the queue (manual says whether it must be dispatched),
 * before the changes in question, and call barrier_pass after them.
 */
struct barrier;

struct barrier *barrier_create(reach_queue *queue, bool manual);
void barrier_pass(struct barrier *barrier);
void barrier_free(struct barrier *barrier);

/* barrier_pass, and then no event is pending in the recorder. */
#define require_no_event(recorder, barrier) require_no_event_at(__FILE__, __LINE__, recorder, barrier)
void require_no_event_at(const char *file, int line, struct recorder *recorder, struct barrier *barrier);

/* -------------------------------------------------------------------------------------------------- the process --- */

/* Descriptors open in this process, and threads in it. */
size_t count_descriptors(void);
size_t count_threads(void);

/* How often all its threads but the calling one were given a processor or gave it up. */
long count_context_switches(void);

/* Sets how many descriptors the process may have; returns how many it could have before. */
rlim_t limit_descriptors(rlim_t number);

/* Waits until the process has at most so many threads; there is no event for the end of another's thread. */
void wait_threads(size_t at_most);

#endif
