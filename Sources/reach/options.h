/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What the command line asks for.
 */
#ifndef REACH_TOOL_OPTIONS_H
#define REACH_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The exit statuses. The first three that are not "wrong use" are also the states a subject can be in. */
enum { STATUS_ONLINE = 0, STATUS_OFFLINE = 1, STATUS_WRONG_USE = 2, STATUS_UNKNOWN = 3 };

/** No limit of time. */
#define FOREVER INT64_C(-1)

struct options {
    bool explain;
    bool json;
    bool quiet;
    bool pair;
    bool resolve;
    bool watch;
    bool wait;
    int wanted;             /**< the state that ends a wait */
    int64_t wait_ms;        /**< FOREVER, or how long to wait */
    int64_t timeout_ms;     /**< FOREVER, or how long everything together may take */
    char **operands;
    int operand_count;
};

/** Reads the command line. Ends the program for --help and --version, and with STATUS_WRONG_USE after a message. */
void options_read(struct options *options, int argc, char **argv);

/** Says on standard error what is wrong with the command line, and ends the program with STATUS_WRONG_USE. */
_Noreturn void options_reject(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
