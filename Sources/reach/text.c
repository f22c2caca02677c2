/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at text, or 0: no overlong forms, no surrogates, nothing over U+10FFFF. */
static size_t character_length(const unsigned char *text, uint32_t *scalar)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length;

    if (text[0] < 0x80) {
        *scalar = text[0];
        return 1;
    }
    if (text[0] >= 0xC2 && text[0] <= 0xDF)
        length = 2;
    else if (text[0] >= 0xE0 && text[0] <= 0xEF)
        length = 3;
    else if (text[0] >= 0xF0 && text[0] <= 0xF4)
        length = 4;
    else
        return 0;
    *scalar = text[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        /* The NUL at the end is no continuation, so that nothing behind it is read. */
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        *scalar = *scalar << 6 | (text[i] & 0x3Fu);
    }
    if (*scalar < smallest[length] || *scalar > 0x10FFFF || (*scalar >= 0xD800 && *scalar <= 0xDFFF))
        return 0;
    return length;
}

void text_print(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at != '\0') {
        uint32_t scalar;
        size_t length = character_length(at, &scalar);

        if (length == 0 || scalar < 0x20 || (scalar >= 0x7F && scalar < 0xA0)) {
            size_t bytes = length == 0 ? 1 : length;
            while (bytes-- > 0)
                fprintf(stream, "\\x%02x", *at++);
        } else {
            fwrite(at, 1, length, stream);
            at += length;
        }
    }
}

void text_print_json(FILE *stream, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    if (text == NULL) {
        fputs("null", stream);
        return;
    }
    putc('"', stream);
    while (*at != '\0') {
        uint32_t scalar;
        size_t length = character_length(at, &scalar);

        if (length == 0) {
            fputs("\\ufffd", stream);
            length = 1;
        } else if (scalar == '"' || scalar == '\\') {
            fprintf(stream, "\\%c", (int)scalar);
        } else if (scalar < 0x20 || (scalar >= 0x7F && scalar < 0xA0) || scalar == 0x2028 || scalar == 0x2029) {
            /* The last two end a line for some readers, and one object is to be one line. */
            fprintf(stream, "\\u%04x", (unsigned)scalar);
        } else {
            fwrite(at, 1, length, stream);
        }
        at += length;
    }
    putc('"', stream);
}
