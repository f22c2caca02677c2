/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The flags of each address or name on the command line, as a number and in words, and why they are what they are.
 *
 *     cc flags.c $(pkg-config --cflags --libs libreach) -o flags
 *     ./flags 0.0.0.0 192.0.2.1 fe80::1%eth0 localhost
 */
#include <reach.h>
#include <stdio.h>
#include <stdlib.h>

static bool print_flags(const char *name)
{
    /* A target that could not be made is NULL, which the next call refuses with the same errno. */
    reach_target *target = reach_create_with_name(name);
    reach_path path;
    char words[256];
    bool answered = reach_get_path(target, &path, sizeof path);

    reach_release(target);
    if (!answered) {
        perror(*name == '\0' ? "an empty name" : name);
        return false;
    }
    reach_flags_describe(path.flags, words, sizeof words);
    printf("%s: 0x%08x (%s): %s", name, path.flags, words, reach_reason_text(path.reason));
    if (path.interface_index != 0) {
        printf(", by %s", path.interface_name);
    }
    if (path.gateway[0] != '\0') {
        printf(" and %s", path.gateway);
    }
    putchar('\n');
    return true;
}

int main(int argc, char **argv)
{
    int status = EXIT_SUCCESS;
    int index;

    for (index = 1; index < argc; index++) {
        if (!print_flags(argv[index])) {
            status = EXIT_FAILURE;
        }
    }
    if (argc < 2) {
        fprintf(stderr, "usage: %s ADDRESS|NAME...\n", argv[0]);
        status = EXIT_FAILURE;
    }
    return status;
}
