/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * One answer worth acting on. After waking up or joining a network, the first "no" is often followed by a "yes" a
 * second later. What a program would have to do about that is one call here: ask; when the answer is yes, take it; else
 * watch for a change and set a timer; take whichever comes first; stop watching, so that the answer is given once.
 *
 *     cc confirm.c $(pkg-config --cflags --libs libreach) -o confirm
 *     ./confirm [MILLISECONDS [HOST|ADDRESS]]      exits with 0 when online, 1 when offline, 2 when it cannot be told
 */
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>

static void answered(reach_target *target, bool online, reach_flags flags, void *info)
{
    int *status = info;

    (void)target;
    (void)flags;
    puts(online ? "online" : "offline");
    *status = online ? 0 : 1;
}

int main(int argc, char **argv)
{
    int timeout = argc > 1 ? atoi(argv[1]) : 5000;
    int status = -1;
    reach_target *target = reach_create_with_name(argc > 2 ? argv[2] : "0.0.0.0");
    reach_queue *queue = reach_queue_create_manual();

    puts("asking");
    fflush(stdout);
    if (target == NULL || queue == NULL || reach_confirm(target, timeout, queue, answered, &status, NULL) == 0) {
        perror("confirm");
        return 2;
    }

    /* Any event loop does in place of this one. A program without a loop calls reach_wait instead of all this. */
    while (status < 0) {
        if (reach_queue_dispatch(queue, -1) < 0) {
            perror("confirm");
            return 2;
        }
    }

    reach_release(target);
    reach_queue_release(queue);
    return status;
}
