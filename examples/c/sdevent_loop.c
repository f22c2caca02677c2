/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path in systemd's event loop, until standard input ends.
 *
 *     cc sdevent_loop.c $(pkg-config --cflags --libs libreach libsystemd) -o sdevent_loop
 */
#include <errno.h>
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

static void changed(reach_target *target, reach_flags flags, void *info)
{
    char text[128];

    (void)target, (void)info;
    reach_flags_describe(flags, text, sizeof text);
    printf("change: %s\n", text);
    fflush(stdout);
}

static int on_queue(sd_event_source *source, int descriptor, uint32_t events, void *queue)
{
    (void)source, (void)descriptor, (void)events;
    return reach_queue_dispatch(queue, 0) < 0 ? -errno : 0;
}

static int on_input(sd_event_source *source, int descriptor, uint32_t events, void *info)
{
    (void)descriptor, (void)events, (void)info;
    return sd_event_exit(sd_event_source_get_event(source), 0);
}

int main(void)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");
    if (!reach_set_callback(internet, changed, NULL, NULL) || !reach_set_queue(internet, queue))
        return perror("reach"), EXIT_FAILURE;
    printf("online: %s\n", reach_is_online() ? "yes" : "no");
    fflush(stdout);

    sd_event *loop = NULL;
    int status = sd_event_default(&loop);
    if (status < 0 || (status = sd_event_add_io(loop, NULL, reach_queue_fd(queue), EPOLLIN, on_queue, queue)) < 0 ||
        (status = sd_event_add_io(loop, NULL, fileno(stdin), EPOLLIN, on_input, NULL)) < 0 ||
        (status = sd_event_loop(loop)) < 0)
        return errno = -status, perror("sd_event"), EXIT_FAILURE;

    sd_event_unref(loop); /* with its sources, before the descriptor goes */
    reach_set_queue(internet, NULL);
    reach_release(internet);
    reach_queue_release(queue);
    return puts("bye") >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
