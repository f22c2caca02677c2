/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The status of a host as it changes, until standard input ends. A monitor of a name looks the name up, which is the
 * one kind of traffic that libreach causes.
 *
 *     cc monitor.c $(pkg-config --cflags --libs libreach) -o monitor
 *     ./monitor HOST|ADDRESS
 */
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>

static const char *words(reach_status status)
{
    switch (status) {
    case REACH_STATUS_UNKNOWN: return "unknown";
    case REACH_STATUS_NOT_REACHABLE: return "not reachable";
    case REACH_STATUS_VIA_WWAN: return "via WWAN";
    case REACH_STATUS_VIA_WIFI: return "via Wi-Fi or cable";
    default: return "?";
    }
}

static void changed(reach_monitor *monitor, reach_status status, reach_status previous, const char *host, void *info)
{
    (void)monitor;
    (void)info;
    printf("%s: %s (was %s)\n", host, words(status), words(previous));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: monitor HOST|ADDRESS\n");
        return 2;
    }

    /* An observer hears what comes after it was added. Added before there is a monitor, and for all of them, it hears
     * the first answer too; one that is added to a monitor later asks reach_monitor_get_status for what it missed. */
    reach_queue *queue = reach_queue_create("observer");
    uint64_t observer = queue == NULL ? 0 : reach_monitor_add_observer(NULL, queue, changed, NULL, NULL);
    reach_monitor *monitor = observer == 0 ? NULL : reach_monitor_create(argv[1]);
    if (monitor == NULL) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }

    while (getchar() != EOF) {
        /* Whatever is typed is of no interest. */
    }

    reach_monitor_remove_observer(observer); /* no call begins after this, */
    reach_queue_flush(queue);                /* and none is running after this */
    reach_monitor_release(monitor);
    reach_queue_release(queue);
    puts("bye");
    return EXIT_SUCCESS;
}
