/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Many targets on one queue: what a change costs that concerns all of them, and what a message costs that concerns
 * none.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <reach.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "network.h"

#define MOST 10000
#define FIRST_TARGET 0x64400000u /* 100.64.0.0, and every 257th address from there: no two in one /24 */
#define SPREAD 257u
#define UNRELATED 0x0a000000u /* 10.0.0.0 */
/* As many questions as fit: their replies must find room in the socket's receive buffer. */
#define BATCH 64

static unsigned calls;

static void changed(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    (void)info;
    calls++;
}

static struct sockaddr_in destination(unsigned which)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(FIRST_TARGET + which * SPREAD)};
}

/*
 * The queue's work of one moment, driven on this thread; ends when `expected` calls were made or a second has passed.
 */
static double drive(reach_queue *queue, unsigned expected)
{
    int64_t begin = bench_now();
    int64_t cpu = bench_cpu(0);
    calls = 0;
    while (calls < expected && bench_now() - begin < 1000000000)
        if (reach_queue_dispatch(queue, 100) < 0)
            bench_fail("reach_queue_dispatch: %s", strerror(errno));
    if (calls != expected)
        bench_fail("%u callbacks instead of %u", calls, expected);
    return (double)(bench_cpu(0) - cpu);
}

static double ask_by_hand(unsigned count)
{
    static struct network_batch batch;
    static int socket = -1;
    if (socket < 0)
        socket = network_socket();
    int64_t begin = bench_cpu(0);
    for (unsigned i = 0; i < count;) {
        batch_clear(&batch);
        for (unsigned end = i + BATCH < count ? i + BATCH : count; i < end; i++) {
            struct sockaddr_in address = destination(i);
            batch_route(&batch, AF_INET, &address.sin_addr, 0);
        }
        batch_ask(&batch, socket);
    }
    return (double)(bench_cpu(0) - begin);
}

/*
 * The cost of messages that matter to nobody: the CPU time of this process for a number of them, with the queue being
 * driven, less that of sending the same messages while the queue is not there.
 */
static double unrelated(reach_queue *queue, unsigned messages)
{
    struct pollfd readable = {.fd = reach_queue_fd(queue), .events = POLLIN};
    int64_t spent = 0;
    calls = 0;
    for (unsigned sent = 0; sent < messages; sent += 2) {
        network_host_route(UNRELATED + sent, true);
        network_host_route(UNRELATED + sent, false);
        int64_t begin = bench_cpu(0);
        while (poll(&readable, 1, 0) > 0)
            if (reach_queue_dispatch(queue, 0) < 0)
                bench_fail("reach_queue_dispatch: %s", strerror(errno));
        spent += bench_cpu(0) - begin;
    }
    if (calls != 0)
        bench_fail("%u callbacks for messages that do not matter", calls);
    return (double)spent / messages;
}

static void with_targets(unsigned count, struct samples *flip, struct samples *by_hand, struct samples *message)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target **targets = calloc(count, sizeof *targets);
    unsigned rounds = bench_rounds(20, 3);
    if (queue == NULL || targets == NULL)
        bench_fail("reach_queue_create_manual: %s", strerror(errno));
    for (unsigned i = 0; i < count; i++) {
        struct sockaddr_in address = destination(i);
        targets[i] = reach_create_with_address((const struct sockaddr *)&address, sizeof address);
        if (targets[i] == NULL || !reach_set_callback(targets[i], changed, NULL, NULL) ||
            !reach_set_queue(targets[i], queue))
            bench_fail("target %u: %s", i, strerror(errno));
    }
    for (unsigned round = 0; round < rounds; round++)
        for (int online = 0; online < 2; online++) {
            network_default(online != 0);
            /* Whoever comes second finds warm caches: each does as often. */
            double alone = round % 2 == 0 ? ask_by_hand(count) : 0;
            double by_library = drive(queue, count);
            if (round % 2 != 0)
                alone = ask_by_hand(count);
            /* The first of all rounds pays for memory that is only got once. */
            if (round > 0) {
                samples_add(flip, by_library);
                samples_add(by_hand, alone);
            }
            /* Storms are slowed down on purpose; this is not one. */
            bench_until(bench_now() + 15000000);
        }
    for (unsigned round = 0; round < rounds; round++) {
        samples_add(message, unrelated(queue, 200));
        bench_until(bench_now() + 15000000);
    }
    for (unsigned i = 0; i < count; i++) {
        if (!reach_set_queue(targets[i], NULL))
            bench_fail("unscheduling: %s", strerror(errno));
        reach_release(targets[i]);
    }
    reach_queue_release(queue);
    free(targets);
}

void row_many_targets(void)
{
    static const unsigned counts[] = {1, 100, MOST};
    struct samples flips[3] = {{0}};
    struct samples by_hand[3] = {{0}};
    struct samples messages[3] = {{0}};
    char name[64];
    for (size_t i = 0; i < 3; i++)
        with_targets(counts[i], &flips[i], &by_hand[i], &messages[i]);
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "libreach, %u target%s", counts[i], counts[i] == 1 ? "" : "s");
        bench_report("targets", name, "one flip", "ns", &flips[i], "the look-ups by hand", &by_hand[i]);
        snprintf(name, sizeof name, "%u look-up%s by hand", counts[i], counts[i] == 1 ? "" : "s");
        bench_report("targets", name, "one flip", "ns", &by_hand[i], NULL, NULL);
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "libreach, %u target%s", counts[i], counts[i] == 1 ? "" : "s");
        /* With few targets the kernel drops such a message; beyond that, more targets are not to make it dearer. */
        bench_report("targets", name, "one unrelated message", "ns", &messages[i], "100 targets", &messages[1]);
    }
}
