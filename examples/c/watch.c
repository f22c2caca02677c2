/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Changes of the internet path, or of the path to a host, on a thread of the library's, until standard input ends.
 *
 *     cc watch.c $(pkg-config --cflags --libs libreach) -o watch
 *     ./watch [HOST|ADDRESS]
 */
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs on the queue's thread, one call at a time, so that the count in info needs no lock. */
static void changed(reach_target *target, reach_flags flags, void *info)
{
    unsigned *changes = info;
    char text[128];

    (void)target;
    reach_flags_describe(flags, text, sizeof text);
    printf("change: %s\n", text);
    fflush(stdout);
    *changes += 1;
}

/* Runs exactly once, when nothing can use info any more. */
static void ended(void *info)
{
    unsigned *changes = info;

    printf("%u changes\n", *changes);
    free(changes);
}

int main(int argc, char **argv)
{
    reach_target *target = reach_create_with_name(argc > 1 ? argv[1] : "0.0.0.0");
    reach_queue *queue = reach_queue_create("watch");
    unsigned *changes = calloc(1, sizeof *changes);
    reach_flags flags;

    if (target == NULL || queue == NULL || changes == NULL) {
        perror("watch");
        return EXIT_FAILURE;
    }
    if (!reach_set_callback(target, changed, changes, ended) || !reach_set_queue(target, queue) ||
        !reach_get_flags(target, &flags)) {
        perror("watch");
        return EXIT_FAILURE;
    }
    printf("online: %s\n", reach_flags_is_online(flags) ? "yes" : "no");
    fflush(stdout);

    while (getchar() != EOF) {
        /* Whatever is typed is of no interest. */
    }

    /* No callback begins after the first of these, none is running after the second, and the third lets go of info.
     * Without it info goes with the target, which the queue's thread may be the last to let go. */
    reach_set_queue(target, NULL);
    reach_queue_flush(queue);
    reach_set_callback(target, NULL, NULL, NULL);
    reach_release(target);
    reach_queue_release(queue);
    puts("bye");
    return EXIT_SUCCESS;
}
