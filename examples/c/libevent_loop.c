/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path in libevent's loop, until standard input ends.
 *
 *     cc libevent_loop.c $(pkg-config --cflags --libs libreach libevent_core) -o libevent_loop
 */
#include <event2/event.h>
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>

static void changed(reach_target *target, reach_flags flags, void *info)
{
    char text[128];

    (void)target, (void)info;
    reach_flags_describe(flags, text, sizeof text);
    printf("change: %s\n", text);
    fflush(stdout);
}

static void on_queue(evutil_socket_t descriptor, short what, void *queue)
{
    (void)descriptor, (void)what;
    if (reach_queue_dispatch(queue, 0) < 0)
        perror("reach_queue_dispatch");
}

static void on_input(evutil_socket_t descriptor, short what, void *base)
{
    (void)descriptor, (void)what;
    event_base_loopbreak(base);
}

int main(void)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");
    if (!reach_set_callback(internet, changed, NULL, NULL) || !reach_set_queue(internet, queue))
        return perror("reach"), EXIT_FAILURE;
    printf("online: %s\n", reach_is_online() ? "yes" : "no");
    fflush(stdout);

    struct event_base *base = event_base_new();
    struct event *changes = event_new(base, reach_queue_fd(queue), EV_READ | EV_PERSIST, on_queue, queue);
    struct event *input = event_new(base, fileno(stdin), EV_READ, on_input, base);
    if (event_add(changes, NULL) != 0 || event_add(input, NULL) != 0 || event_base_dispatch(base) < 0)
        return EXIT_FAILURE;

    event_free(changes);
    event_free(input);
    event_base_free(base);
    reach_set_queue(internet, NULL);
    reach_release(internet);
    reach_queue_release(queue);
    return puts("bye") >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
