/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * A whole program in one file, to be linked in every way there is: shared, static, against another libc. It needs a
 * network namespace in which only the loopback link is up, where the answers are known.
 */
#include <reach.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(const char *what, int is_so)
{
    printf("%s: %s\n", what, is_so ? "as it should be" : "WRONG");
    failures += !is_so;
}

static void count(reach_target *target, reach_flags flags, void *info)
{
    (void)target;
    (void)flags;
    ++*(int *)info;
}

static void release(void *info)
{
    *(int *)info += 100;
}

int main(void)
{
    const reach_flags local = REACH_FLAG_REACHABLE | REACH_FLAG_IS_LOCAL_ADDRESS | REACH_FLAG_IS_DIRECT;
    struct sockaddr_in loopback;
    reach_flags flags = 0;
    char text[100];
    int called = 0;

    memset(&loopback, 0, sizeof loopback);
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    reach_target *own = reach_create_with_address((struct sockaddr *)&loopback, sizeof loopback);
    expect("own address", reach_get_flags(own, &flags) && flags == local);
    expect("in words", reach_flags_describe(flags, text, sizeof text) == strlen(text) &&
                           strcmp(text, "Reachable,Local Address,Directly Reachable Address") == 0);
    errno = 0;
    expect("the internet", !reach_is_online() && errno == 0);
    expect("bad argument", !reach_get_flags(NULL, &flags) && errno == EINVAL);
    expect("version", reach_version() == REACH_VERSION);
    expect("versions", strcmp(reach_version_string(), REACH_VERSION_STRING) == 0);

    reach_target *name = reach_create_with_name("localhost");
    reach_queue *manual = reach_queue_create_manual(), *thread = reach_queue_create("program");
    expect("queues", manual != NULL && thread != NULL);
    expect("scheduling", reach_set_callback(name, count, &called, release) && reach_set_queue(name, manual));
    struct pollfd descriptor = { reach_queue_fd(manual), POLLIN, 0 };
    while (called == 0 && poll(&descriptor, 1, 15000) == 1 && reach_queue_dispatch(manual, 0) >= 0) {
    }
    expect("the callback that a name is owed", called == 1);
    expect("unscheduling", reach_set_queue(name, NULL));
    reach_release(name);
    expect("release", called == 101);
    expect("waiting", reach_wait(own, 0, &flags) && flags == local);
    expect("scheduling on a thread", reach_set_queue(own, thread));
    expect("flushing", reach_set_queue(own, NULL) && reach_queue_flush(thread));
    reach_release(own);
    reach_queue_release(manual);
    reach_queue_release(thread);
    return failures != 0;
}
