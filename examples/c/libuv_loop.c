/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path in libuv's loop, until standard input ends.
 *
 *     cc libuv_loop.c $(pkg-config --cflags --libs libreach libuv) -o libuv_loop
 */
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

static void changed(reach_target *target, reach_flags flags, void *info)
{
    char text[128];

    (void)target, (void)info;
    reach_flags_describe(flags, text, sizeof text);
    printf("change: %s\n", text);
    fflush(stdout);
}

static void on_queue(uv_poll_t *watcher, int status, int events)
{
    (void)events;
    if (status < 0 || reach_queue_dispatch(watcher->data, 0) < 0)
        uv_stop(watcher->loop);
}

static void on_input(uv_poll_t *watcher, int status, int events)
{
    (void)status, (void)events;
    uv_stop(watcher->loop);
}

int main(void)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");
    if (!reach_set_callback(internet, changed, NULL, NULL) || !reach_set_queue(internet, queue))
        return perror("reach"), EXIT_FAILURE;
    printf("online: %s\n", reach_is_online() ? "yes" : "no");
    fflush(stdout);

    uv_poll_t changes = {.data = queue}, input;
    uv_poll_init(uv_default_loop(), &changes, reach_queue_fd(queue));
    uv_poll_init(uv_default_loop(), &input, fileno(stdin));
    uv_poll_start(&changes, UV_READABLE, on_queue);
    uv_poll_start(&input, UV_READABLE, on_input);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);

    uv_close((uv_handle_t *)&changes, NULL); /* before the descriptor goes */
    uv_close((uv_handle_t *)&input, NULL);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    reach_set_queue(internet, NULL);
    reach_release(internet);
    reach_queue_release(queue);
    return uv_loop_close(uv_default_loop()) == 0 && puts("bye") >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
