/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The plain examples, as built by each compiler against an installed copy of the library, run in networks that are
 * known. The programs are found in the folders named on the command line.
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a program with its output, both kinds, into text, and returns its exit status. */
static int run(char *text, size_t size, const char *folder, const char *const words[])
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, words[0]);
    int output[2];
    require_int(pipe2(output, O_CLOEXEC), 0);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        dup2(output[1], STDOUT_FILENO);
        dup2(output[1], STDERR_FILENO);
        execv(path, (char *const *)(uintptr_t)words);
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        _exit(127);
    }
    close(output[1]);
    size_t length = 0;
    ssize_t count;
    while ((count = read(output[0], text + length, size - 1 - length)) > 0) {
        length += (size_t)count;
    }
    text[length] = '\0';
    close(output[0]);
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_message(WIFEXITED(status), "%s was ended by signal %d", path, WTERMSIG(status));
    return WEXITSTATUS(status);
}

#define require_run(folder, status, expected, ...) \
    require_run_at(__LINE__, folder, status, expected, (const char *const[]){ __VA_ARGS__, NULL })

static void require_run_at(int line, const char *folder, int status, const char *expected, const char *const words[])
{
    char text[4096];
    int actual = run(text, sizeof text, folder, words);
    if (actual != status || strcmp(text, expected) != 0) {
        fail_scenario(__FILE__, line, "%s/%s: status %d with\n%s    not %d with\n%s", folder, words[0], actual, text,
                      status, expected);
    }
}

static void zero_check(void *argument)
{
    const char *folder = argument;
    require_run(folder, 1, "not connected\n", "zero_check");
    network("veth wan0 10.1.0.2/24\n");
    require_run(folder, 1, "not connected\n", "zero_check");
    network("route add default via 10.1.0.1\n");
    require_run(folder, 0, "connected\n", "zero_check");
    network("link set wan0 state dormant\nstopped wan0\n");
    require_run(folder, 1, "not connected\n", "zero_check");
    network("veth wan1 2001:db8:1::2/64\nroute add ::/0 via fe80::1 dev wan1\n");
    require_run(folder, 0, "connected\n", "zero_check");
    network("pull wan1\n");
    require_run(folder, 1, "not connected\n", "zero_check");
}

static void flags(void *argument)
{
    const char *folder = argument;
    network("link set lo up\nveth wan0 10.1.0.2/24 fe80::5/64\n");
    require_run(folder, 0,
                "0.0.0.0: 0x00000000 (Not Reachable): no route\n"
                "10.1.0.77: 0x00020002 (Reachable,Directly Reachable Address): there is a path, by wan0\n"
                "fe80::77%wan0: 0x00020002 (Reachable,Directly Reachable Address): there is a path, by wan0\n"
                "localhost: 0x00030002 (Reachable,Local Address,Directly Reachable Address): there is a path, by lo\n",
                "flags", "0.0.0.0", "10.1.0.77", "fe80::77%wan0", "localhost");
    network("route add default via 10.1.0.1\n");
    require_run(folder, 0, "198.51.100.9: 0x00000002 (Reachable): there is a path, by wan0 and 10.1.0.1\n", "flags",
                "198.51.100.9");
    require_run(folder, 1, "an empty name: Invalid argument\n"
                           "0.0.0.0: 0x00000002 (Reachable): there is a path, by wan0 and "
                           "10.1.0.1\n",
                "flags", "", "0.0.0.0");
    require_run(folder, 1, "usage: flags ADDRESS|NAME...\n", "flags");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER...\n", argv[0]);
        return 2;
    }
    int failures = 0;
    for (int index = 1; index < argc; index++) {
        const struct CMUnitTest tests[] = {
            namespace_test_with("zero_check", zero_check, argv[index]),
            namespace_test_with("flags", flags, argv[index]),
        };
        print_message("in %s\n", argv[index]);
        failures += cmocka_run_group_tests_name("examples", tests, NULL, NULL);
    }
    return failures != 0;
}
