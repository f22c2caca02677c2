/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { scenario_limit_seconds = 60 };

/* What a child's exit status means. valgrind's own (see mk/test-c.mk) is none of these. */
enum { child_passed = 0, child_failed = 1, child_skipped = 77, child_has_no_namespace = 78 };

static bool in_continuous_integration(void)
{
    const char *value = getenv("CI");
    return value != NULL && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

static int patience(void)
{
    const char *value = getenv("REACH_TEST_PATIENCE");
    int factor = value == NULL ? 1 : atoi(value);
    return factor < 1 ? 1 : factor;
}

int deadline_ms(void)
{
    return 15000 * patience();
}

_Noreturn void fail_scenario(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    fflush(stderr);
    funlockfile(stderr);
    va_end(arguments);
    /* Other threads may be anywhere, so nothing is torn down. */
    _exit(child_failed);
}

_Noreturn void skip_scenario(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    fflush(stderr);
    va_end(arguments);
    _exit(child_skipped);
}

void require_int_at(const char *file, int line, const char *what, long long actual, long long expected)
{
    if (actual != expected) {
        fail_scenario(file, line, "%s is %lld, not %lld", what, actual, expected);
    }
}

void require_text_at(const char *file, int line, const char *what, const char *actual, const char *expected)
{
    if (actual == NULL || strcmp(actual, expected) != 0) {
        fail_scenario(file, line, "%s is \"%s\", not \"%s\"", what, actual == NULL ? "(null)" : actual, expected);
    }
}

const char *errno_name(int number)
{
    const char *name = number == 0 ? "0" : strerrorname_np(number);
    return name == NULL ? "an unknown number" : name;
}

__attribute__((constructor)) static void choose_tests(void)
{
    cmocka_set_test_filter(getenv("REACH_TEST_ONLY"));
}

/* ------------------------------------------------------------------------------------------------- namespaces --- */

static bool write_file(const char *path, const char *text)
{
    int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return false;
    }
    ssize_t length = (ssize_t)strlen(text);
    ssize_t written = write(descriptor, text, (size_t)length);
    int failure = errno;
    close(descriptor);
    errno = failure;
    return written == length;
}

/* A process with threads, such as the thread sanitizer makes of every one, may not enter a user namespace. It needs
 * none when it is privileged already: then it is to be started in one by `unshare --user --map-root-user`. */
static bool is_refused_for_threads(int error)
{
    return error == EINVAL && unshare(CLONE_NEWNET | CLONE_NEWNS) == 0;
}

static void enter_user_and_other_namespaces(void)
{
    char map[64];
    unsigned uid = (unsigned)geteuid();
    unsigned gid = (unsigned)getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0) {
        int error = errno;
        if (is_refused_for_threads(error))
            return;
        fprintf(stderr, "the kernel refuses user and network namespaces: %s\n", strerror(error));
        _exit(child_has_no_namespace);
    }
    bool mapped = write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", uid);
    mapped = mapped && write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", gid);
    mapped = mapped && write_file("/proc/self/gid_map", map);
    if (!mapped) {
        fprintf(stderr, "the kernel refuses to map the user in a user namespace: %s\n", strerror(errno));
        _exit(child_has_no_namespace);
    }
}

static void enter_namespaces(void)
{
    enter_user_and_other_namespaces();
    /* sysfs shows the namespace in which it was mounted. */
    if (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 || mount("sysfs", "/sys", "sysfs", 0, NULL) != 0) {
        fprintf(stderr, "sysfs cannot be mounted in a namespace: %s\n", strerror(errno));
        _exit(child_has_no_namespace);
    }
    /* A user who is not root has no sbin in PATH, but that is where ip lives. */
    const char *path = getenv("PATH");
    char *longer = NULL;
    if (asprintf(&longer, "%s:/usr/sbin:/sbin", path == NULL ? "/usr/bin:/bin" : path) > 0) {
        setenv("PATH", longer, 1);
        free(longer);
    }
}

/* --------------------------------------------------------------------------------------------------- children --- */

static void call_scenario(void **state)
{
    const struct scenario *scenario = *state;
    scenario->function(scenario->argument);
}

static _Noreturn void become_scenario(const struct scenario *scenario, bool isolated, int output)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    close(output);
    if (isolated) {
        enter_namespaces();
    }
    alarm((unsigned)(scenario_limit_seconds * patience()));
    cmocka_set_test_filter(NULL);
    /* A group of its own makes cmocka's assert_ functions return to here and not into the parent's run. */
    const struct CMUnitTest tests[] = {
        { "scenario", call_scenario, NULL, NULL, (void *)scenario },
    };
    int failures = cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
    exit(failures == 0 ? child_passed : child_failed);
}

/* Leaves out the frame that cmocka draws around the one test in the child. */
static void show_output(char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] != '[' || strstr(line, "ERROR") != NULL) {
            print_error("    %s\n", line);
        }
    }
}

static char *read_to_end(int descriptor)
{
    char *text = NULL;
    size_t length = 0;
    for (;;) {
        char *longer = realloc(text, length + 4097);
        if (longer == NULL) {
            free(text);
            return NULL;
        }
        text = longer;
        ssize_t count = read(descriptor, text + length, 4096);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            text[length] = '\0';
            return text;
        }
        length += (size_t)count;
    }
}

static void run_scenario(const struct scenario *scenario, bool isolated)
{
    int output[2];
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(output[0]);
        become_scenario(scenario, isolated, output[1]);
    }
    close(output[1]);
    char *text = read_to_end(output[0]);
    close(output[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        assert_int_equal(errno, EINTR);
    }
    assert_non_null(text);

    if (WIFEXITED(status) && WEXITSTATUS(status) == child_passed) {
        free(text);
        return;
    }
    show_output(text);
    free(text);
    if (WIFSIGNALED(status)) {
        if (WTERMSIG(status) == SIGALRM) {
            fail_msg("the scenario did not end within %d s", scenario_limit_seconds * patience());
        }
        fail_msg("the scenario was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    bool skipped = WEXITSTATUS(status) == child_skipped || WEXITSTATUS(status) == child_has_no_namespace;
    if (skipped && !in_continuous_integration()) {
        skip();
    }
    if (skipped) {
        fail_msg("a scenario may not be skipped when CI=true");
    }
    fail_msg("the scenario failed (exit status %d)", WEXITSTATUS(status));
}

void run_in_namespace(void **state)
{
    run_scenario(*state, true);
}

void run_in_process(void **state)
{
    run_scenario(*state, false);
}
