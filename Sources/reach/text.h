/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Writing text that came from outside, such as a name from the command line, which can hold any bytes.
 */
#ifndef REACH_TOOL_TEXT_H
#define REACH_TOOL_TEXT_H

#include <stdio.h>

/** Writes text for people: control characters and bytes that are not UTF-8 appear as \xNN, and so can do nothing. */
void text_print(FILE *stream, const char *text);

/** Writes text as a JSON string with its quotes; NULL as null. Bytes that are not UTF-8 become U+FFFD. */
void text_print_json(FILE *stream, const char *text);

#endif
