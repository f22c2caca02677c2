/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * When the system says no: no descriptors left, a sandbox that refuses netlink. The call fails with the system's own
 * errno, nothing is written and nothing is guessed; afterwards, when the system says yes again, the answer is right.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ONLINE_NETWORK "veth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n"

/* Every way of asking fails with this errno, and writes nothing. */
static void require_asking_refused(reach_target *asked, int failure)
{
    reach_flags flags = 0x12345678;
    require_refused(reach_get_flags(asked, &flags), false, failure);
    require_int(flags, 0x12345678);
    reach_path path;
    memset(&path, 0x5a, sizeof path);
    require_refused(reach_get_path(asked, &path, sizeof path), false, failure);
    for (size_t index = 0; index < sizeof path; index++) {
        require_int(((const unsigned char *)&path)[index], 0x5a);
    }
    require_refused(reach_is_online(), false, failure);
}

/* -------------------------------------------------------------------------------------------------- descriptors --- */

/* The number that the next descriptor will have. */
static int next_descriptor(void)
{
    int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    require(descriptor >= 0);
    close(descriptor);
    return descriptor;
}

static void no_descriptors_left(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    reach_target *public = target("198.51.100.9");
    reach_target *named = target_name("host.example");
    int next = next_descriptor();
    size_t open_before = count_descriptors();

    /* With room for none, and for one only. */
    for (int room = 0; room < 2; room++) {
        rlim_t before = limit_descriptors((rlim_t)(next + room));
        for (int time = 0; time < 100; time++) {
            require_asking_refused(internet, EMFILE);
            require_asking_refused(public, EMFILE);
            require_asking_refused(named, EMFILE);
        }
        limit_descriptors(before);
        require_message(count_descriptors() == open_before, "what could be opened was left open");
    }

    require_flags(internet, REACH_FLAG_REACHABLE);
    require_flags(public, REACH_FLAG_REACHABLE);
    require_int(count_descriptors(), open_before + 2);

    /* Once they are open, no more are needed, whatever happens to the network. */
    network("route del default\n");
    rlim_t before = limit_descriptors(3);
    require_flags(internet, 0);
    require_flags(public, 0);
    limit_descriptors(before);
    network("route add default via 10.1.0.1\n");
    limit_descriptors(3);
    require_flags(internet, REACH_FLAG_REACHABLE);
    require_flags(named, REACH_FLAG_REACHABLE);
    limit_descriptors(before);
    reach_release(internet);
    reach_release(public);
    reach_release(named);
}

/* ------------------------------------------------------------------------------------------------------ sandbox --- */

/* Makes the system calls fail with the number, for sockets of the family only where socket itself is among them. */
static void refuse(int failure, const int *calls, size_t count)
{
    /* The older way of loading a filter, which valgrind knows. */
    require_int(seccomp_api_set(1), 0);
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    require(filter != NULL);
    for (size_t index = 0; index < count; index++) {
        int result = calls[index] == SCMP_SYS(socket)
                         ? seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)failure), calls[index], 1,
                                            SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0))
                         : seccomp_rule_add(filter, SCMP_ACT_ERRNO((uint32_t)failure), calls[index], 0);
        require_int(result, 0);
    }
    require_int(seccomp_load(filter), 0);
    seccomp_release(filter);
}

static const int socket_call[] = { SCMP_SYS(socket) };
static const int bind_call[] = { SCMP_SYS(bind) };
static const int option_calls[] = { SCMP_SYS(setsockopt) };
static const int send_calls[] = { SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg) };
static const int receive_calls[] = { SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(recvmmsg) };

struct sandbox {
    const char *name;
    const int *calls;
    size_t count;
    int failure;
    /* The library can do without some calls, but not give a wrong answer without them. */
    bool needed;
};

#define CALLS(list) list, sizeof list / sizeof *list

static const struct sandbox sandboxes[] = {
    { "sandbox refuses netlink sockets: EPERM", CALLS(socket_call), EPERM, true },
    { "sandbox refuses netlink sockets: EACCES", CALLS(socket_call), EACCES, true },
    { "sandbox refuses netlink sockets: EAFNOSUPPORT", CALLS(socket_call), EAFNOSUPPORT, true },
    { "sandbox refuses netlink sockets: ENOSYS", CALLS(socket_call), ENOSYS, true },
    { "sandbox refuses netlink sockets: ENETUNREACH", CALLS(socket_call), ENETUNREACH, true },
    { "sandbox refuses netlink sockets: EHOSTUNREACH", CALLS(socket_call), EHOSTUNREACH, true },
    { "sandbox refuses netlink sockets: EINVAL", CALLS(socket_call), EINVAL, true },
    { "sandbox refuses bind", CALLS(bind_call), EACCES, true },
    { "sandbox refuses setsockopt", CALLS(option_calls), EPERM, false },
    { "sandbox refuses to send", CALLS(send_calls), EPERM, true },
    { "sandbox refuses to send: ENETUNREACH", CALLS(send_calls), ENETUNREACH, true },
    { "sandbox refuses to receive", CALLS(receive_calls), EPERM, true },
    { "sandbox refuses to receive: EINVAL", CALLS(receive_calls), EINVAL, true },
};

static void check_sandboxed(reach_target *asked, const struct sandbox *sandbox)
{
    reach_flags flags;
    if (!sandbox->needed && reach_get_flags(asked, &flags)) {
        require_flags(asked, REACH_FLAG_REACHABLE);
        return;
    }
    require_asking_refused(asked, sandbox->failure);
}

static void sandboxed_before_asking(void *argument)
{
    const struct sandbox *sandbox = argument;
    network(ONLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    reach_target *public = target("198.51.100.9");
    reach_target *pair = target_pair("10.1.0.2", "198.51.100.9");
    reach_target *named = target_name("host.example");
    size_t open_before = count_descriptors();
    refuse(sandbox->failure, sandbox->calls, sandbox->count);
    for (int time = 0; time < 10; time++) {
        check_sandboxed(internet, sandbox);
        check_sandboxed(public, sandbox);
        check_sandboxed(pair, sandbox);
        check_sandboxed(named, sandbox);
    }
    require(!sandbox->needed || count_descriptors() <= open_before + 2);
    reach_release(internet);
    reach_release(public);
    reach_release(pair);
    reach_release(named);
}

/* The sockets are open already when the sandbox comes, as with a program that locks itself in after its start. */
static void sandboxed_after_asking(void *argument)
{
    const struct sandbox *sandbox = argument;
    network(ONLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, REACH_FLAG_REACHABLE);
    bool cut_off = sandbox->calls == send_calls || sandbox->calls == receive_calls;
    if (cut_off) {
        /* Something must have changed, or there is nothing to send. */
        network("route del default\n");
    }
    refuse(sandbox->failure, sandbox->calls, sandbox->count);
    if (cut_off) {
        require_asking_refused(internet, sandbox->failure);
    } else {
        require_flags(internet, REACH_FLAG_REACHABLE);
    }
    reach_release(internet);
}

int main(void)
{
    enum { sandbox_count = sizeof sandboxes / sizeof *sandboxes, count = 1 + 2 * sandbox_count };
    static struct scenario scenarios[count];
    static struct CMUnitTest tests[count];
    static char names[count][96];
    scenarios[0] = (struct scenario){ no_descriptors_left, NULL };
    snprintf(names[0], sizeof names[0], "no descriptors left");
    for (size_t index = 0; index < sandbox_count; index++) {
        void *sandbox = (void *)&sandboxes[index];
        scenarios[1 + 2 * index] = (struct scenario){ sandboxed_before_asking, sandbox };
        snprintf(names[1 + 2 * index], sizeof *names, "%s, before asking", sandboxes[index].name);
        scenarios[2 + 2 * index] = (struct scenario){ sandboxed_after_asking, sandbox };
        snprintf(names[2 + 2 * index], sizeof *names, "%s, after asking", sandboxes[index].name);
    }
    for (size_t index = 0; index < count; index++) {
        tests[index] = (struct CMUnitTest){ names[index], run_in_namespace, NULL, NULL, &scenarios[index] };
    }
    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
