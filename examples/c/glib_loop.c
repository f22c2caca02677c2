/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path in GLib's main loop (GTK, GStreamer, ...), until standard input ends.
 *
 *     cc glib_loop.c $(pkg-config --cflags --libs libreach glib-2.0) -o glib_loop
 */
#include <glib-unix.h>
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>

static void changed(reach_target *target, reach_flags flags, void *info)
{
    char text[128];

    (void)target, (void)info;
    reach_flags_describe(flags, text, sizeof text);
    g_print("change: %s\n", text);
}

static gboolean on_queue(gint descriptor, GIOCondition condition, gpointer queue)
{
    (void)descriptor, (void)condition;
    return reach_queue_dispatch(queue, 0) < 0 ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static gboolean on_input(gint descriptor, GIOCondition condition, gpointer loop)
{
    (void)descriptor, (void)condition;
    g_main_loop_quit(loop);
    return G_SOURCE_CONTINUE;
}

int main(void)
{
    reach_queue *queue = reach_queue_create_manual();
    reach_target *internet = reach_create_with_name("0.0.0.0");
    if (!reach_set_callback(internet, changed, NULL, NULL) || !reach_set_queue(internet, queue))
        return perror("reach"), EXIT_FAILURE;
    g_print("online: %s\n", reach_is_online() ? "yes" : "no");

    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    guint changes = g_unix_fd_add(reach_queue_fd(queue), G_IO_IN, on_queue, queue);
    guint input = g_unix_fd_add(fileno(stdin), G_IO_IN | G_IO_HUP, on_input, loop);
    g_main_loop_run(loop);

    g_source_remove(changes);
    g_source_remove(input);
    g_main_loop_unref(loop);
    reach_set_queue(internet, NULL);
    reach_release(internet);
    reach_queue_release(queue);
    g_print("bye\n");
    return EXIT_SUCCESS;
}
