/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * Many threads at once, and forks, also forks while other threads are inside the library.
 */
#include "support.h"
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ONLINE REACH_FLAG_REACHABLE
#define DIRECT (REACH_FLAG_REACHABLE | REACH_FLAG_IS_DIRECT)

enum { thread_count = 100 };

/* Waits for a child that exits with 0 unless it found something wrong; a child that hangs is ended by its own alarm. */
static void require_child(pid_t child)
{
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_message(!WIFSIGNALED(status), "a child was ended by signal %d (%s)", WTERMSIG(status),
                    strsignal(WTERMSIG(status)));
    require_message(WEXITSTATUS(status) == 0, "a child found something wrong");
}

/* ------------------------------------------------------------------------------------------------------ threads --- */

struct crowd {
    pthread_barrier_t start;
    reach_target *internet, *public, *neighbour;
    atomic_bool stop;
    atomic_ulong asked;
};

static void crowd_create(struct crowd *crowd, unsigned count)
{
    require_int(pthread_barrier_init(&crowd->start, NULL, count), 0);
    crowd->internet = target("0.0.0.0");
    crowd->public = target("198.51.100.9");
    crowd->neighbour = target("10.1.0.77");
    atomic_init(&crowd->stop, false);
    atomic_init(&crowd->asked, 0);
}

static void crowd_release(struct crowd *crowd)
{
    reach_release(crowd->internet);
    reach_release(crowd->public);
    reach_release(crowd->neighbour);
    pthread_barrier_destroy(&crowd->start);
}

static void *ask_first(void *argument)
{
    struct crowd *crowd = argument;
    pthread_barrier_wait(&crowd->start);
    require_flags(crowd->internet, ONLINE);
    require_flags(crowd->public, ONLINE);
    require_flags(crowd->neighbour, DIRECT);
    return NULL;
}

/* The very first question of the process comes from all threads at the same time. */
static void first_question_from_many_threads(void *argument)
{
    (void)argument;
    network("veth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    size_t descriptors = count_descriptors();
    struct crowd crowd;
    crowd_create(&crowd, thread_count);
    pthread_t threads[thread_count];
    for (int index = 0; index < thread_count; index++) {
        require_int(pthread_create(&threads[index], NULL, ask_first, &crowd), 0);
    }
    for (int index = 0; index < thread_count; index++) {
        require_int(pthread_join(threads[index], NULL), 0);
    }
    require_int(count_descriptors(), descriptors + 2);
    crowd_release(&crowd);
}

static void *ask_always(void *argument)
{
    struct crowd *crowd = argument;
    pthread_barrier_wait(&crowd->start);
    while (!atomic_load(&crowd->stop)) {
        reach_flags flags = 0xdeadbeef;
        require(reach_get_flags(crowd->internet, &flags));
        require_message(flags == 0 || flags == ONLINE, "the internet: 0x%x", flags);
        require(reach_get_flags(crowd->public, &flags));
        require_message(flags == 0 || flags == ONLINE, "a public address: 0x%x", flags);
        require_flags(crowd->neighbour, DIRECT);
        reach_target *fresh = target("198.51.100.9");
        require(reach_get_flags(fresh, &flags));
        require_message(flags == 0 || flags == ONLINE, "a fresh target: 0x%x", flags);
        reach_release(reach_retain(fresh));
        reach_release(fresh);
        atomic_fetch_add(&crowd->asked, 4);
    }
    return NULL;
}

/* All threads ask the same targets while the answer changes. The thread that changed it must see the change at once. */
static void many_threads_while_the_network_changes(void *argument)
{
    (void)argument;
    network("veth wan0 10.1.0.2/24\n");
    struct crowd crowd;
    crowd_create(&crowd, thread_count + 1);
    pthread_t threads[thread_count];
    for (int index = 0; index < thread_count; index++) {
        require_int(pthread_create(&threads[index], NULL, ask_always, &crowd), 0);
    }
    pthread_barrier_wait(&crowd.start);
    for (int time = 0; time < 8; time++) {
        ip("route add default via 10.1.0.1\n");
        require_flags(crowd.internet, ONLINE);
        require_flags(crowd.public, ONLINE);
        ip("route del default\n");
        require_flags(crowd.public, 0);
        require_flags(crowd.internet, 0);
    }
    atomic_store(&crowd.stop, true);
    for (int index = 0; index < thread_count; index++) {
        require_int(pthread_join(threads[index], NULL), 0);
    }
    require(atomic_load(&crowd.asked) > 0);
    crowd_release(&crowd);
}

/* -------------------------------------------------------------------------------------------------------- forks --- */

/* Parent and child ask in turn, in both orders, and neither reads the other's messages. */
static void fork_and_ask(void *argument)
{
    (void)argument;
    network("veth wan0 10.1.0.2/24\n");
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, 0);

    int to_child[2], to_parent[2];
    require_int(pipe(to_child), 0);
    require_int(pipe(to_parent), 0);
    size_t descriptors = count_descriptors();
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        char step;
        while (read(to_child[0], &step, 1) == 1) {
            if (step == 'q') {
                /* The parent's sockets are closed or left alone, and there are two of its own. */
                require(count_descriptors() <= descriptors + 2);
                reach_release(internet);
                _exit(0);
            }
            require_flags(internet, step == '1' ? ONLINE : 0);
            require(write(to_parent[1], "k", 1) == 1);
        }
        _exit(1);
    }
    for (int time = 0; time < 20; time++) {
        bool online = time % 2 == 0;
        ip(online ? "route add default via 10.1.0.1\n" : "route del default\n");
        if (time % 4 < 2) {
            require_flags(internet, online ? ONLINE : 0);
        }
        require(write(to_child[1], online ? "1" : "0", 1) == 1);
        char reply;
        require_message(read(to_parent[0], &reply, 1) == 1, "the child gave up");
        require_flags(internet, online ? ONLINE : 0);
        if (time == 0) {
            require_int(count_descriptors(), descriptors);
        }
    }
    require(write(to_child[1], "q", 1) == 1);
    close(to_parent[1]);
    require_child(child);
    reach_release(internet);
}

/* Children of children: each generation starts afresh. */
static void fork_in_generations(void *argument)
{
    (void)argument;
    network("veth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, ONLINE);
    size_t descriptors = count_descriptors();
    pid_t first = getpid();
    pid_t child = 0;
    for (int generation = 0; generation < 20 && child == 0; generation++) {
        child = fork();
        require(child >= 0);
        if (child == 0) {
            require_flags(internet, ONLINE);
            require_message(count_descriptors() <= descriptors + 2, "descriptors pile up over generations: %zu",
                            count_descriptors());
        }
    }
    if (child != 0) {
        require_child(child);
    }
    require_flags(internet, ONLINE);
    reach_release(internet);
    if (getpid() != first) {
        _exit(0);
    }
}

/* A daemon closes all it has inherited. The numbers that the library knew belong to others then, who must keep them. */
static void fork_and_close_everything(void *argument)
{
    (void)argument;
    enum { numbers = 64 };
    network("veth wan0 10.1.0.2/24\nroute add default via 10.1.0.1\n");
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, ONLINE);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        for (int number = 3; number < numbers; number++) {
            close(number);
        }
        int pipes[numbers][2];
        int count = 0;
        while (count < numbers / 2 && pipe(pipes[count]) == 0 && write(pipes[count][1], "x", 1) == 1) {
            count += 1;
        }
        require_flags(internet, ONLINE);
        reach_release(internet);
        for (int index = 0; index < count; index++) {
            char byte = 0;
            require_message(is_readable(pipes[index][0], 0), "somebody read from descriptor %d", pipes[index][0]);
            require_int(read(pipes[index][0], &byte, 1), 1);
            require_int(byte, 'x');
            require(write(pipes[index][1], "y", 1) == 1);
        }
        _exit(0);
    }
    require_child(child);
    require_flags(internet, ONLINE);
    reach_release(internet);
}

/* Some thread is inside the library at almost any moment, and may hold a lock when the process is forked. */
static void fork_while_threads_ask(void *argument)
{
    (void)argument;
    enum { askers = 8, forks = 100 };
    network("veth wan0 10.1.0.2/24\n");
    struct crowd crowd;
    crowd_create(&crowd, askers + 1);
    pthread_t threads[askers];
    for (int index = 0; index < askers; index++) {
        require_int(pthread_create(&threads[index], NULL, ask_always, &crowd), 0);
    }
    pthread_barrier_wait(&crowd.start);
    for (int time = 0; time < forks; time++) {
        bool online = time % 2 == 0;
        ip(online ? "route add default via 10.1.0.1\n" : "route del default\n");
        pid_t child = fork();
        require(child >= 0);
        if (child == 0) {
            alarm((unsigned)deadline_ms() / 1000);
            require_flags(crowd.internet, online ? ONLINE : 0);
            require_flags(crowd.neighbour, DIRECT);
            reach_target *fresh = target("198.51.100.9");
            require_flags(fresh, online ? ONLINE : 0);
            reach_release(fresh);
            require(reach_is_online() == online);
            _exit(0);
        }
        require_child(child);
        require_flags(crowd.internet, online ? ONLINE : 0);
    }
    atomic_store(&crowd.stop, true);
    for (int index = 0; index < askers; index++) {
        require_int(pthread_join(threads[index], NULL), 0);
    }
    crowd_release(&crowd);
}

/* A signal handler that interrupts every system call must not make a call fail: EINTR never leaves the library. */
static void nothing(int number)
{
    (void)number;
}

static void asking_under_signals(void *argument)
{
    (void)argument;
    network("veth wan0 10.1.0.2/24\n");
    struct sigaction action = { .sa_handler = nothing };
    require_int(sigaction(SIGUSR1, &action, NULL), 0);
    reach_target *internet = target("0.0.0.0");
    for (int round = 0; round < 10; round++) {
        bool online = round % 2 == 0;
        ip(online ? "route add default via 10.1.0.1\n" : "route del default\n");
        struct nuisance nuisance;
        nuisance_begin(&nuisance, pthread_self());
        for (int time = 0; time < 500; time++) {
            reach_target *fresh = target("198.51.100.9");
            require_flags(internet, online ? ONLINE : 0);
            require_flags(fresh, online ? ONLINE : 0);
            reach_release(fresh);
        }
        nuisance_end(&nuisance);
    }
    reach_release(internet);
}

static void not_answered(reach_target *target, bool online, reach_flags flags, void *info)
{
    (void)target;
    (void)online;
    (void)flags;
    (void)info;
    fail_scenario(__FILE__, __LINE__, "an answer came");
}

/* A child's numbers are none of its parent's, or it would cancel its own confirmation with one of those. */
static void numbers_over_a_fork(void *argument)
{
    (void)argument;
    network("veth wan0 10.1.0.2/24\n");
    reach_target *internet = target("0.0.0.0");
    reach_queue *queue = reach_queue_create_manual();
    uint64_t parents = reach_confirm(internet, -1, queue, not_answered, NULL, NULL);
    require(parents != 0);
    fflush(NULL);
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        reach_queue *own = reach_queue_create_manual();
        uint64_t id = reach_confirm(internet, -1, own, not_answered, NULL, NULL);
        require(id != 0 && id != parents);
        require_refused(reach_confirm_cancel(parents), false, ENOENT);
        require(reach_confirm_cancel(id));
        reach_queue_release(own);
        _exit(0);
    }
    int status;
    require_int(waitpid(child, &status, 0), child);
    require_int(status, 0);
    require(reach_confirm_cancel(parents));
    reach_queue_release(queue);
    reach_release(internet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        namespace_test(first_question_from_many_threads),
        namespace_test(many_threads_while_the_network_changes),
        namespace_test(fork_and_ask),
        namespace_test(fork_in_generations),
        namespace_test(fork_and_close_everything),
        namespace_test(fork_while_threads_ask),
        namespace_test(asking_under_signals),
        namespace_test(numbers_over_a_fork),
    };
    return cmocka_run_group_tests_name("concurrency", tests, NULL, NULL);
}
