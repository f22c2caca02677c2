/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Printing answers: in a line, explained, or as JSON.
 */
#ifndef REACH_TOOL_REPORT_H
#define REACH_TOOL_REPORT_H

#include "subject.h"

/** What standard output came to. */
enum report_result {
    REPORT_WRITTEN,
    REPORT_UNREAD,      /**< the reader of the pipe has gone: nothing more is wanted */
    REPORT_FAILED       /**< a full disk or a closed descriptor: errno tells */
};

/** Prints the subject's answer and flushes it. before is the answer that it replaces in a watch, or NULL. */
enum report_result report(const struct subject *subject, const struct answer *before, const struct options *options);

#endif
