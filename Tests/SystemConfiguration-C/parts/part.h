/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The parts of a program that sharing.c is linked with: the same file compiled as C, as C++, as Objective-C where there
 * is a compiler for it, and into a shared library. Only pointers of no type cross the border, as a real program's parts
 * may have been compiled at different times.
 */
#ifndef REACH_TESTS_SC_PART_H
#define REACH_TESTS_SC_PART_H

#ifdef __cplusplus
extern "C" {
#endif

struct part {
    const char *name;
    int (*error)(void);
    void (*refuse)(void);
    const void *(*current_loop)(void);
    const void *(*main_loop)(void);
    const void *(*text)(const char *text);
    int (*texts_equal)(const void *text, const char *other);
    const void *(*target)(void);
    int (*ask)(const void *target, unsigned *flags);
    int (*schedule)(const void *target, const void *loop, void (*callout)(unsigned flags));
    int (*unschedule)(const void *target, const void *loop);
    void (*run)(void);
    void (*release)(const void *object);
};

extern const struct part part_c, part_cxx, part_objc, part_library;

#ifdef __cplusplus
}
#endif

#endif
