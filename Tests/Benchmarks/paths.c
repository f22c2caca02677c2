/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 *     unshare -Urn bench-paths PATH COUNT
 *
 * Goes a hot path so many times, for an instruction counter that looks at the library's entry point only. Two runs with
 * different counts give what one time costs, without what is only paid once.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <reach.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "network.h"

/* A little more than the shortest time between two looks in a storm, so that each change is looked at by itself. */
#define PAUSE INT64_C(12000000)
#define TARGETS 500
#define UNRELATED 0x0a000000u /* 10.0.0.0 */

static unsigned calls;

static void changed(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
    calls++;
}

static reach_target *target_for(const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    inet_pton(AF_INET, text, &address.sin_addr);
    reach_target *target = reach_create_with_address((const struct sockaddr *)&address, sizeof address);
    if (target == NULL)
        bench_fail("reach_create_with_address: %s", strerror(errno));
    return target;
}

static void expect(reach_target *target, bool online)
{
    reach_flags flags;
    if (!reach_get_flags(target, &flags) || reach_flags_is_online(flags) != online)
        bench_fail("reach_get_flags is wrong");
}

static void flags_unchanged(unsigned count)
{
    reach_target *target = target_for("0.0.0.0");
    for (unsigned i = 0; i < count; i++)
        expect(target, true);
}

static void flags_after_change(unsigned count)
{
    reach_target *target = target_for("0.0.0.0");
    expect(target, true);
    for (unsigned i = 0; i < count; i++) {
        network_default(i % 2 != 0);
        expect(target, i % 2 != 0);
    }
}

static reach_queue *queue_with(reach_target *target)
{
    reach_queue *queue = reach_queue_create_manual();
    if (queue == NULL || !reach_set_callback(target, changed, NULL, NULL) || !reach_set_queue(target, queue))
        bench_fail("the target cannot be scheduled: %s", strerror(errno));
    return queue;
}

static void dispatch(reach_queue *queue, int timeout_ms)
{
    if (reach_queue_dispatch(queue, timeout_ms) < 0)
        bench_fail("reach_queue_dispatch: %s", strerror(errno));
}

static void change_to_callback(unsigned count)
{
    reach_queue *queue = queue_with(target_for("0.0.0.0"));
    int64_t next = bench_now();
    for (unsigned i = 0; i < count; i++) {
        bench_until(next += PAUSE);
        network_default(i % 2 != 0);
        while (calls == i)
            dispatch(queue, 1000);
    }
}

/* What the queue does about one message, after which nobody is to be called. */
static void dispatch_in_vain(reach_queue *queue)
{
    struct pollfd readable = {.fd = reach_queue_fd(queue), .events = POLLIN};
    if (poll(&readable, 1, 1000) != 1)
        bench_fail("the message did not come");
    dispatch(queue, 0);
    if (calls != 0)
        bench_fail("a callback without a change");
}

/* With so many targets the kernel sorts out no messages any more, so that this one comes, and matters to nobody. */
static void unrelated_message(unsigned count)
{
    reach_queue *queue = queue_with(target_for("0.0.0.0"));
    for (unsigned i = 0; i < TARGETS; i++) {
        char text[32];
        snprintf(text, sizeof text, "100.%u.%u.1", 64 + i / 250, i % 250);
        if (!reach_set_queue(target_for(text), queue))
            bench_fail("the target cannot be scheduled: %s", strerror(errno));
    }
    for (unsigned i = 0; i < count; i++) {
        network_host_route(UNRELATED, i % 2 == 0);
        dispatch_in_vain(queue);
    }
}

/* Any message about a link may matter to everybody, so that everything is asked again; here no answer changes. */
static void link_message(unsigned count)
{
    reach_queue *queue = queue_with(target_for("0.0.0.0"));
    int64_t next = bench_now();
    for (unsigned i = 0; i < count; i++) {
        bench_until(next += PAUSE);
        network_touch_link(1000 + i % 2);
        dispatch_in_vain(queue);
    }
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*go)(unsigned count);
    } paths[] = {
        {"flags-unchanged", flags_unchanged},
        {"flags-after-change", flags_after_change},
        {"change-to-callback", change_to_callback},
        {"unrelated-message", unrelated_message},
        {"link-message", link_message},
    };
    if (count == 3) {
        network_must_be_empty();
        network_new();
        network_scene();
        for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
            if (strcmp(paths[i].name, arguments[1]) == 0) {
                paths[i].go((unsigned)atoi(arguments[2]));
                return 0;
            }
    }
    fputs("usage: unshare -Urn bench-paths PATH COUNT\n", stderr);
    return 2;
}
