/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The kernel cannot be asked at just the moment when something else depends on it: what was heard by then is told all
 * the same, and what was known before is no answer. This program's own send takes the place of libc's.
 */
#include "support.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

#define NO 0u
#define YES REACH_FLAG_REACHABLE

static atomic_int failures;
static bool without_rules;

ssize_t send(int descriptor, const void *bytes, size_t length, int flags)
{
    struct nlmsghdr header;
    if (without_rules && length >= sizeof header && length <= 64) {
        memcpy(&header, bytes, sizeof header);
        if (header.nlmsg_type == RTM_GETRULE) {
            char changed[64];
            memcpy(changed, bytes, length);
            header.nlmsg_type = RTM_MAX + 1;
            memcpy(changed, &header, sizeof header);
            return sendto(descriptor, changed, length, flags, NULL, 0);
        }
    }
    int left = atomic_load(&failures);
    while (left > 0 && !atomic_compare_exchange_weak(&failures, &left, left - 1)) {
    }
    if (left > 0) {
        errno = ENOBUFS;
        return -1;
    }
    return sendto(descriptor, bytes, length, flags, NULL, 0);
}

static void start(void)
{
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
}

struct answer {
    int count;
    bool online;
    reach_flags flags;
};

static void take_answer(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)target;
    struct answer *answer = info;
    answer->count++;
    answer->online = online;
    answer->flags = flags;
}

/* Another one that cannot be scheduled takes nothing from those that are. */
static void another_is_not_scheduled(void *argument)
{
    (void)argument;
    start();
    reach_queue *queue = reach_queue_create_manual();
    struct recorder *recorder = recorder_create();
    reach_target *watched = target("198.51.100.9");
    reach_target *other = target("198.51.100.10");
    require(reach_set_callback(watched, record_event, recorder, NULL));
    require(reach_set_queue(watched, queue));
    network("route del default\n");
    atomic_store(&failures, 1);
    require_refused(reach_set_queue(other, queue), false, ENOBUFS);
    require_int(atomic_load(&failures), 0);
    wait_readable(reach_queue_fd(queue));
    require_event(recorder, queue, watched, NO);
    network("route add default via 10.1.0.1\n");
    atomic_store(&failures, 1);
    require_refused(reach_confirm(other, -1, queue, take_answer, NULL, NULL), 0, ENOBUFS);
    wait_readable(reach_queue_fd(queue));
    require_event(recorder, queue, watched, YES);
    reach_set_queue(watched, NULL);
    reach_release(watched);
    reach_release(other);
    reach_queue_release(queue);
    recorder_free(recorder);
}

/* In line before the confirmation that it disturbs. */
struct disturber {
    const char *script;
    int64_t until; /* on the monotonic clock, 0 for at once */
};

static void disturb(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    struct disturber *disturber = info;
    if (flags == NO || disturber->script == NULL) {
        return;
    }
    network(disturber->script);
    disturber->script = NULL;
    atomic_store(&failures, 1000000);
    while (now_ms() < disturber->until) {
        sched_yield();
    }
}

struct disturbed {
    reach_queue *queue;
    reach_target *first, *asked;
    struct answer answer;
};

static struct disturbed disturbed_begin(struct disturber *disturber, int timeout)
{
    start();
    network("route del default\n");
    struct disturbed disturbed = {
        reach_queue_create_manual(), target("198.51.100.9"), target("198.51.100.10"), { 0, true, 0x5678 }
    };
    require(reach_set_callback(disturbed.first, disturb, disturber, NULL));
    require(reach_set_queue(disturbed.first, disturbed.queue));
    static struct answer answer;
    answer = disturbed.answer;
    require(reach_confirm(disturbed.asked, timeout, disturbed.queue, take_answer, &answer, NULL) != 0);
    network("route add default via 10.1.0.1\n");
    while (disturber->script != NULL) {
        require(reach_queue_dispatch(disturbed.queue, deadline_ms()) >= 0);
    }
    while (answer.count == 0 && timeout > 0) {
        require(reach_queue_dispatch(disturbed.queue, deadline_ms()) >= 0);
    }
    atomic_store(&failures, 0);
    int64_t end = now_ms() + deadline_ms();
    while (answer.count == 0) {
        struct pollfd readable = { .fd = reach_queue_fd(disturbed.queue), .events = POLLIN };
        require_message(poll(&readable, 1, (int)(end - now_ms())) == 1, "the queue has nothing to do any more");
        require(reach_queue_dispatch(disturbed.queue, 0) >= 0);
    }
    disturbed.answer = answer;
    return disturbed;
}

static void disturbed_end(struct disturbed *disturbed)
{
    require_int(disturbed->answer.count, 1);
    require(reach_set_queue(disturbed->first, NULL));
    reach_release(disturbed->first);
    reach_release(disturbed->asked);
    reach_queue_release(disturbed->queue);
}

/* The look before the answer fails: then the answer comes as soon as the kernel can be asked again. */
static void answered_after_failures(void *argument)
{
    (void)argument;
    struct disturber disturber = { "link set wan0 mtu 1400\n", 0 };
    struct disturbed disturbed = disturbed_begin(&disturber, -1);
    require(disturbed.answer.online);
    require_int(disturbed.answer.flags, YES);
    disturbed_end(&disturbed);
}

/* What was known before the change is no answer at the deadline, when the kernel cannot be asked for a newer one. */
static void unknown_at_the_deadline(void *argument)
{
    (void)argument;
    struct disturber disturber = { "route del default\n", now_ms() + 600 };
    struct disturbed disturbed = disturbed_begin(&disturber, 500);
    require(!disturbed.answer.online);
    require_int(disturbed.answer.flags, NO);
    disturbed_end(&disturbed);
}

/* A kernel that has no rules, as some devices' and sandboxes' have not, refuses to list them. */
static void a_kernel_without_rules(void *argument)
{
    (void)argument;
    without_rules = true;
    start();
    reach_target *asked = target("198.51.100.9");
    require_flags(asked, YES);
    require(reach_is_online());
    reach_queue *queue = reach_queue_create_manual();
    struct recorder *recorder = recorder_create();
    require(reach_set_callback(asked, record_event, recorder, NULL));
    require(reach_set_queue(asked, queue));
    network("route del default\n");
    require_event(recorder, queue, asked, NO);
    require_flags(asked, NO);
    require(reach_set_queue(asked, NULL));
    reach_release(asked);
    reach_queue_release(queue);
    recorder_free(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(another_is_not_scheduled),
        namespace_test(answered_after_failures),
        namespace_test(unknown_at_the_deadline),
        namespace_test(a_kernel_without_rules),
    };
    return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}
