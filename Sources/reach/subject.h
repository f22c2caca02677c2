/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * A subject is one thing the tool was asked about, with the answer last had for it.
 */
#ifndef REACH_TOOL_SUBJECT_H
#define REACH_TOOL_SUBJECT_H

#include "options.h"

#include <reach.h>

struct answer {
    int state;          /**< STATUS_ONLINE, STATUS_OFFLINE or STATUS_UNKNOWN */
    int error;          /**< the errno for which the kernel could not be asked, or 0 */
    reach_path path;    /**< all zero when the kernel could not be asked */
};

struct subject {
    const char *name;       /**< the operand, for a pair the remote one; NULL for the internet at large */
    const char *local;      /**< the local address of a pair, else NULL */
    reach_target *asked;    /**< gives the answers */
    reach_target *watched;  /**< is scheduled, and tells when to ask: the same, but for a name not to be looked up */
    bool heard;             /**< a change was reported since it was asked last */
    struct answer answer;
};

/** Makes the subject of one operand, NULL for the internet. Ends the program when it cannot. */
void subject_make(struct subject *subject, const struct options *options, const char *operand);

/** Makes the subject of a pair of addresses. Ends the program when they are no addresses. */
void subject_make_pair(struct subject *subject, const char *local, const char *remote);

/** Asks the kernel, and keeps the answer. */
void subject_ask(struct subject *subject);

/** Whether the answer waits for a look-up: the flags are only those of the internet, what was asked for is the host. */
bool subject_is_open(const struct subject *subject);

/** Schedules the subject on queue, and asks. False with the answer's error. */
bool subject_schedule(struct subject *subject, reach_queue *queue);

/** The state of all together: offline when one is offline, else unknown when one is unknown, else online. */
int subjects_state(const struct subject *subjects, int count);

void subject_free(struct subject *subject);

#endif
