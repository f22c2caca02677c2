/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path in a poll(2) loop, until standard input ends.
 *
 *     cc poll_loop.c $(pkg-config --cflags --libs libreach) -o poll_loop
 */
#include <poll.h>
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void changed(reach_target *target, reach_flags flags, void *info)
{
    char text[128];

    (void)target, (void)info;
    reach_flags_describe(flags, text, sizeof text);
    printf("change: %s\n", text);
    fflush(stdout);
}

static void fail(const char *what)
{
    perror(what);
    exit(EXIT_FAILURE);
}

int main(void)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");

    if (queue == NULL || internet == NULL)
        fail("create");
    if (!reach_set_callback(internet, changed, NULL, NULL) || !reach_set_queue(internet, queue))
        fail("schedule");
    printf("online: %s\n", reach_is_online() ? "yes" : "no");
    fflush(stdout);

    struct pollfd watched[] = {{STDIN_FILENO, POLLIN, 0}, {reach_queue_fd(queue), POLLIN, 0}};
    while (watched[0].revents == 0) {
        if (poll(watched, 2, -1) < 0)
            fail("poll");
        if (watched[1].revents != 0 && reach_queue_dispatch(queue, 0) < 0)
            fail("reach_queue_dispatch");
    }

    reach_set_queue(internet, NULL);
    reach_release(internet);
    reach_queue_release(queue);
    puts("bye");
    return EXIT_SUCCESS;
}
