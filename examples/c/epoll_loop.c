/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path in an epoll(7) loop, until standard input ends.
 *
 *     cc epoll_loop.c $(pkg-config --cflags --libs libreach) -o epoll_loop
 */
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static void changed(reach_target *target, reach_flags flags, void *info)
{
    char text[128];

    (void)target, (void)info;
    reach_flags_describe(flags, text, sizeof text);
    printf("change: %s\n", text);
    fflush(stdout);
}

static void check(bool worked, const char *what)
{
    if (!worked) {
        perror(what);
        exit(EXIT_FAILURE);
    }
}

int main(void)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");

    check(queue != NULL && internet != NULL, "create");
    check(reach_set_callback(internet, changed, NULL, NULL) && reach_set_queue(internet, queue), "schedule");
    printf("online: %s\n", reach_is_online() ? "yes" : "no");
    fflush(stdout);

    int loop = epoll_create1(EPOLL_CLOEXEC), input = STDIN_FILENO, changes = reach_queue_fd(queue);
    struct epoll_event on_input = {.events = EPOLLIN, .data.fd = input};
    struct epoll_event on_change = {.events = EPOLLIN, .data.fd = changes};
    check(epoll_ctl(loop, EPOLL_CTL_ADD, input, &on_input) == 0, "epoll_ctl");
    check(epoll_ctl(loop, EPOLL_CTL_ADD, changes, &on_change) == 0, "epoll_ctl");

    struct epoll_event happened = {0};
    while (epoll_wait(loop, &happened, 1, -1) == 1 && happened.data.fd == changes)
        check(reach_queue_dispatch(queue, 0) >= 0, "reach_queue_dispatch");

    reach_set_queue(internet, NULL);
    reach_release(internet);
    reach_queue_release(queue);
    puts("bye");
    return EXIT_SUCCESS;
}
