/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What these headers and those of SystemConfiguration need inside, also when CoreFoundation is a real one.
 */
#ifndef REACH_SHARED_H
#define REACH_SHARED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* One definition for the whole program, in whichever file it is met first. The number in the names of such variables
 * grows when their layout changes, so that files compiled with different versions of these headers keep apart. */
#define REACH_CF_SHARED __attribute__((weak, visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Memory for small objects. A program that has none left is ended with a trap, as by the library (see reach.h). */
static inline void *reach_cf_allocate(void *old, size_t size)
{
    void *memory = realloc(old, size);

    if (memory == NULL) {
        __builtin_trap();
    }
    return memory;
}

/* printf into memory of the right size, to be freed by the caller. */
static inline char *reach_cf_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *reach_cf_print(const char *format, ...)
{
    va_list arguments;
    size_t size;
    char *text;

    va_start(arguments, format);
    size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    va_end(arguments);
    text = (char *)reach_cf_allocate(NULL, size);
    va_start(arguments, format);
    (void)vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return text;
}

#ifdef __cplusplus
}
#endif

#endif
