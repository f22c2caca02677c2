/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The library is a guest in somebody's process: what it does not do at load time, what it leaves alone, and that it
 * holds on to nothing.
 */
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ONLINE_NETWORK "link set lo up\nveth wan0 10.1.0.2/24 2001:db8:1::2/64\nroute add default via 10.1.0.1\n"

extern char **environ;

/* What a process has that a guest must not touch. */
struct belongings {
    struct sigaction actions[65];
    sigset_t mask;
    size_t environment;
    mode_t mask_of_files;
    char directory[4096];
};

static void take_stock(struct belongings *belongings)
{
    memset(belongings, 0, sizeof *belongings);
    for (int number = 1; number < 65; number++) {
        sigaction(number, NULL, &belongings->actions[number]);
    }
    require_int(pthread_sigmask(SIG_SETMASK, NULL, &belongings->mask), 0);
    for (char **entry = environ; *entry != NULL; entry++) {
        belongings->environment = belongings->environment * 31 + strlen(*entry);
    }
    belongings->mask_of_files = umask(0);
    umask(belongings->mask_of_files);
    require(getcwd(belongings->directory, sizeof belongings->directory) != NULL);
}

static void require_same(const struct belongings *before)
{
    struct belongings after;
    take_stock(&after);
    for (int number = 1; number < 65; number++) {
        require_message(before->actions[number].sa_handler == after.actions[number].sa_handler &&
                            before->actions[number].sa_flags == after.actions[number].sa_flags,
                        "the handling of signal %d was changed", number);
    }
    require(memcmp(&before->mask, &after.mask, sizeof after.mask) == 0);
    require_int(before->environment, after.environment);
    require_int(before->mask_of_files, after.mask_of_files);
    require_text(after.directory, before->directory);
}

static void ask_everything(void)
{
    reach_target *targets[] = {
        target("0.0.0.0"), target("198.51.100.9"), target("2001:db8:ffff::9"), target("127.0.0.1"),
        target_pair("10.1.0.2", "198.51.100.9"), target_name("localhost"), target_name("host.example"),
    };
    for (size_t index = 0; index < sizeof targets / sizeof *targets; index++) {
        reach_flags flags;
        require(reach_get_flags(targets[index], &flags));
        path_of(targets[index]);
        reach_release(targets[index]);
    }
    reach_is_online();
}

static void leaves_the_process_alone(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    /* Made before the count, since its output goes there. */
    int output[2];
    require_int(pipe2(output, O_CLOEXEC), 0);
    struct belongings before;
    take_stock(&before);
    size_t descriptors = count_descriptors();

    fflush(NULL);
    int standard[2] = { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) };
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    ask_everything();
    ip("route del default\n");
    ask_everything();
    fflush(NULL);
    dup2(standard[0], STDOUT_FILENO);
    dup2(standard[1], STDERR_FILENO);
    close(standard[0]);
    close(standard[1]);
    require_message(!is_readable(output[0], 0), "something was printed");

    require_same(&before);
    require_int(count_threads(), 1);
    require_int(count_descriptors(), descriptors + 2);
}

static void descriptors_are_close_on_exec(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    bool open_before[256];
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        open_before[descriptor] = fcntl(descriptor, F_GETFD) >= 0;
    }
    ask_everything();
    int found = 0;
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        int flags = fcntl(descriptor, F_GETFD);
        if (flags >= 0 && !open_before[descriptor]) {
            found += 1;
            require_message((flags & FD_CLOEXEC) != 0, "descriptor %d survives exec", descriptor);
        }
    }
    require_int(found, 2);
}

/* The standard descriptors are free in some processes; the library must do with those numbers, too. */
static void without_standard_descriptors(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    require(kept >= 0);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    reach_target *internet = target("0.0.0.0");
    reach_flags flags = 0;
    bool answered = reach_get_flags(internet, &flags);
    int failure = errno;
    reach_release(internet);
    int taken = dup2(kept, STDERR_FILENO);
    require_int(taken, STDERR_FILENO);
    require_message(answered, "%s", errno_name(failure));
    require_int(flags, REACH_FLAG_REACHABLE);
}

/* What loading does is seen best with a second copy, since the first one came with the program. */
static void loading_does_nothing(void *argument)
{
    (void)argument;
    Dl_info information;
    require(dladdr((void *)(uintptr_t)reach_version, &information) != 0);
    size_t descriptors = count_descriptors();
    struct belongings before;
    take_stock(&before);
    void *library = dlmopen(LM_ID_NEWLM, information.dli_fname, RTLD_NOW | RTLD_LOCAL);
    require_message(library != NULL, "%s", dlerror());
    require_int(count_descriptors(), descriptors);
    require_int(count_threads(), 1);
    require_same(&before);

    void *symbol = dlsym(library, "reach_version");
    require(symbol != NULL);
    uint32_t (*version)(void);
    memcpy(&version, &symbol, sizeof version);
    require_int(version(), REACH_VERSION);
    /* It stays, so that a thread of its own never returns into nothing. */
    require_int(dlclose(library), 0);
    require_int(version(), REACH_VERSION);
    require_int(count_descriptors(), descriptors);
}

/* The namespace is that of the thread that asked first, whatever threads do afterwards. */
static void belongs_to_the_first_namespace(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, REACH_FLAG_REACHABLE);
    int second = open(peer_netns(), O_RDONLY | O_CLOEXEC);
    int first = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    require(second >= 0 && first >= 0);
    require_int(setns(second, CLONE_NEWNET), 0);
    require_flags(internet, REACH_FLAG_REACHABLE);
    reach_target *public = target("198.51.100.9");
    require_flags(public, REACH_FLAG_REACHABLE);
    require_int(setns(first, CLONE_NEWNET), 0);
    ip("route del default\n");
    require_int(setns(second, CLONE_NEWNET), 0);
    require_flags(internet, 0);
    require_flags(public, 0);
    require_int(setns(first, CLONE_NEWNET), 0);
    reach_release(public);
    reach_release(internet);
}

/* However often it is asked, and however much changes: the same memory, the same two descriptors. */
static void holds_on_to_nothing(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    enum { warm_up = 20, rounds = 220 };
    size_t descriptors = 0, memory = 0;
    for (int round = 0; round < rounds; round++) {
        ip(round % 2 == 0 ? "route del default\n" : "route add default via 10.1.0.1\n");
        for (int time = 0; time < 20; time++) {
            ask_everything();
        }
        if (round == warm_up) {
            descriptors = count_descriptors();
            memory = mallinfo2().uordblks;
        }
    }
    require_int(count_descriptors(), descriptors);
    require_int(mallinfo2().uordblks, memory);
    require_int(count_threads(), 1);
}

/* 100,000 targets cost memory only, and give it all back. */
static void many_targets(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    enum { count = 100000 };
    ask_everything();
    size_t descriptors = count_descriptors();
    reach_target **targets = calloc(count, sizeof *targets);
    require(targets != NULL);
    size_t memory = 0;
    /* The allocator keeps some of what was freed for the thread, so the first time does not count. */
    for (int time = 0; time < 2; time++) {
        for (size_t index = 0; index < count; index++) {
            targets[index] = index % 2 == 0 ? target("198.51.100.9") : target_name("host.example");
        }
        require_flags(targets[0], REACH_FLAG_REACHABLE);
        require_flags(targets[count - 1], REACH_FLAG_REACHABLE);
        require_int(count_descriptors(), descriptors);
        for (size_t index = 0; index < count; index++) {
            reach_release(targets[index]);
        }
        if (time == 0) {
            memory = mallinfo2().uordblks;
        }
    }
    require_int(mallinfo2().uordblks, memory);
    free(targets);
}

/* The generation is what tells a caller that something may have changed. */
static void generation_grows_with_changes(void *argument)
{
    (void)argument;
    network(ONLINE_NETWORK);
    reach_target *internet = target("0.0.0.0");
    uint64_t first = path_of(internet).generation;
    for (int time = 0; time < 10; time++) {
        require_int(path_of(internet).generation, first);
    }
    ip("route del default\n");
    uint64_t second = path_of(internet).generation;
    require(second > first);
    require_int(path_of(internet).generation, second);
    reach_release(internet);
}

/* Which family can be used is told for the internet at large and for each address. */
static void families_in_the_path(void *argument)
{
    (void)argument;
    network("link set lo up\nveth wan0 10.1.0.2/24 2001:db8:1::2/64\n");
    reach_target *internet = target("0.0.0.0");
    reach_target *ipv4 = target("198.51.100.9");
    reach_target *ipv6 = target("2001:db8:ffff::9");
    reach_target *mapped = target("::ffff:198.51.100.9");
    static const struct {
        const char *script;
        bool ipv4, ipv6;
    } steps[] = {
        { "", false, false },
        { "route add default via 10.1.0.1\n", true, false },
        { "route add ::/0 via 2001:db8:1::1\n", true, true },
        { "route del default\n", false, true },
        { "pull wan0\n", false, false },
    };
    for (size_t index = 0; index < sizeof steps / sizeof *steps; index++) {
        network(steps[index].script);
        reach_path path = path_of(internet);
        require_int(path.ipv4_usable, steps[index].ipv4);
        require_int(path.ipv6_usable, steps[index].ipv6);
        path = path_of(ipv4);
        require_int(path.ipv4_usable, steps[index].ipv4);
        require_int(path.ipv6_usable, false);
        require_text(path.destination, "198.51.100.9");
        path = path_of(mapped);
        require_int(path.ipv4_usable, steps[index].ipv4);
        require_int(path.ipv6_usable, false);
        path = path_of(ipv6);
        require_int(path.ipv4_usable, false);
        require_int(path.ipv6_usable, steps[index].ipv6);
        require_text(path.destination, "2001:db8:ffff::9");
    }
    reach_release(internet);
    reach_release(ipv4);
    reach_release(ipv6);
    reach_release(mapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        process_test(loading_does_nothing),
        namespace_test(leaves_the_process_alone),
        namespace_test(descriptors_are_close_on_exec),
        namespace_test(without_standard_descriptors),
        namespace_test(belongs_to_the_first_namespace),
        namespace_test(holds_on_to_nothing),
        namespace_test(many_targets),
        namespace_test(generation_grows_with_changes),
        namespace_test(families_in_the_path),
    };
    return cmocka_run_group_tests_name("guest", tests, NULL, NULL);
}
