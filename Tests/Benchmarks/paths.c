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

/* A link message says nothing that could be sorted out in the kernel, and here it changes no answer. */
static void unrelated_message(unsigned count)
{
    reach_queue *queue = queue_with(target_for("0.0.0.0"));
    struct pollfd readable = {.fd = reach_queue_fd(queue), .events = POLLIN};
    int64_t next = bench_now();
    for (unsigned i = 0; i < count; i++) {
        bench_until(next += PAUSE);
        network_touch_link(1000 + i % 2);
        if (poll(&readable, 1, 1000) == 1)
            dispatch(queue, 0);
    }
    if (calls != 0)
        bench_fail("a callback without a change");
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
