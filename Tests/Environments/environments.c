/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The places a library may find itself in: sandboxes, containers without /proc or /sys, processes out of descriptors or
 * with tiny stacks, forked children, plug-ins that are unloaded, other network namespaces. In each, libreach either
 * works or says with an error number why not; it never guesses.
 */
#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/mount.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#define ONLINE REACH_FLAG_REACHABLE
#define OUTSIDE "198.51.100.7"
#define HOST "host.environments.example"

/* ------------------------------------------------------------------------------------------------- the network --- */

static void go_online(void)
{
    ip("route replace default via 10.1.0.1 dev wan0");
}

static void go_offline(void)
{
    ip("route del default");
}

/* Both ends of the cable lie here, since some of the scenarios close every descriptor, the harness's own included. */
static void connected(void)
{
    ip("link set lo up\n"
       "link add wan0 type veth peer name far0\n"
       "address add 10.1.0.2/24 dev wan0\n"
       "link set wan0 up\n"
       "link set far0 up");
    wait_link_running("wan0", true);
    go_online();
}

/* One host name, without DNS. */
static void hosts_file(void)
{
    static const char *const texts[][2] = {
        { "/etc/hosts", "127.0.0.1 localhost\n" OUTSIDE " " HOST "\n" },
        { "/etc/nsswitch.conf", "hosts: files\n" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char path[] = "/tmp/reach-environments-XXXXXX";
        int descriptor = mkstemp(path);
        require(descriptor >= 0);
        require(write(descriptor, texts[i][1], strlen(texts[i][1])) == (ssize_t)strlen(texts[i][1]));
        close(descriptor);
        require_message(mount(path, texts[i][0], NULL, MS_BIND, NULL) == 0, "%s: %s", texts[i][0], errno_name(errno));
        unlink(path);
    }
}

/* -------------------------------------------------------------------------------------------- what can be done --- */

static void asking_works(void)
{
    reach_target *internet = target("0.0.0.0"), *outside = target(OUTSIDE), *own = target("127.0.0.1");
    require_flags(internet, ONLINE);
    require_flags(outside, ONLINE);
    require_flags(own, ONLINE | REACH_FLAG_IS_LOCAL_ADDRESS | REACH_FLAG_IS_DIRECT);
    require(reach_is_online());
    require(path_of(outside).reason == REACH_REASON_REACHABLE);
    reach_release(internet);
    reach_release(outside);
    reach_release(own);
}

static void hearing_works(bool thread)
{
    struct recorder *recorder = recorder_create();
    reach_queue *queue = thread ? reach_queue_create("environment") : reach_queue_create_manual();
    require_message(queue != NULL, "a queue: %s", errno_name(errno));
    reach_queue *manual = thread ? NULL : queue;
    reach_target *outside = target(OUTSIDE);
    require(reach_set_callback(outside, record_event, recorder, record_release));
    require_message(reach_set_queue(outside, queue), "scheduling: %s", errno_name(errno));
    go_offline();
    require_event(recorder, manual, outside, 0);
    go_online();
    require_event(recorder, manual, outside, ONLINE);
    require(reach_set_queue(outside, NULL));
    require(reach_queue_flush(queue));
    reach_release(outside);
    wait_releases(recorder, manual, 1);
    reach_queue_release(queue);
    recorder_free(recorder);
}

static void answer(reach_target *target, bool online, reach_flags flags, void *info)
{
    require(online);
    record(info, target, flags);
}

static void confirming_works(void)
{
    struct recorder *recorder = recorder_create();
    reach_queue *queue = reach_queue_create(NULL);
    reach_target *internet = target("0.0.0.0");
    require(queue != NULL);
    require(reach_confirm(internet, 1000, queue, answer, recorder, record_release) != 0);
    require_event(recorder, NULL, internet, ONLINE);
    wait_releases(recorder, NULL, 1);
    require(reach_wait(internet, 0, NULL));
    reach_release(internet);
    reach_queue_release(queue);
    recorder_free(recorder);
}

static void names_work(void)
{
    struct recorder *recorder = recorder_create();
    reach_queue *queue = reach_queue_create(NULL);
    reach_target *name = target_name(HOST);
    require(queue != NULL);
    require(reach_set_callback(name, record_event, recorder, record_release));
    require_message(reach_set_queue(name, queue), "scheduling a name: %s", errno_name(errno));
    require_event(recorder, NULL, name, ONLINE);
    reach_flags flags = 0;
    require_message(reach_wait(name, deadline_ms(), &flags), "waiting for a name: %s", errno_name(errno));
    require_int(flags, ONLINE);
    require(reach_set_queue(name, NULL));
    reach_release(name);
    reach_queue_release(queue);
    wait_releases(recorder, NULL, 1);
    recorder_free(recorder);
}

static void everything_works(void)
{
    asking_works();
    hearing_works(true);
    hearing_works(false);
    confirming_works();
    names_work();
}

/* ------------------------------------------------------------------------------------------------ file systems --- */

static void hide(const char *path)
{
    require_message(mount("none", path, "tmpfs", MS_RDONLY, NULL) == 0, "%s: %s", path, errno_name(errno));
}

static void without_sys(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    hide("/sys");
    everything_works();
}

static void without_proc(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    hide("/proc");
    everything_works();
}

static void without_etc(void *argument)
{
    (void)argument;
    connected();
    hide("/etc");
    asking_works();
    hearing_works(true);
    confirming_works();

    /* Nothing says how to look a name up: it is not found or fails, and neither is an error of the call. */
    reach_target *name = target_name(HOST);
    require_refused(reach_wait(name, 0, NULL), false, ETIMEDOUT);
    reach_release(name);
}

static void read_only(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
    require_message(syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes) == 0,
                    "making everything read-only: %s", errno_name(errno));
    require(open("/tmp/written", O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0 && errno == EROFS);
    everything_works();
}

static void empty_root(void *argument)
{
    (void)argument;
    connected();
    char path[] = "/tmp/reach-environments-XXXXXX";
    require(mkdtemp(path) != NULL);
    require(mount("none", path, "tmpfs", 0, NULL) == 0);
    /* The network is changed from outside of the empty root. */
    pid_t child = fork();
    if (child == 0) {
        require(chroot(path) == 0 && chdir("/") == 0);
        asking_works();
        reach_queue *queue = reach_queue_create_manual();
        require(queue != NULL);
        require(reach_queue_dispatch(queue, 0) == 0);
        reach_queue_release(queue);
        _exit(0);
    }
    int status;
    require(waitpid(child, &status, 0) == child);
    require_int(status, 0);
    umount2(path, MNT_DETACH);
    rmdir(path);
}

/* ------------------------------------------------------------------------------------------------------ limits --- */

/* Counting takes a descriptor itself. */
static size_t count_descriptors_within(rlim_t limit)
{
    limit_descriptors(limit + 1);
    size_t count = count_descriptors();
    limit_descriptors(limit);
    return count;
}

static void eight_descriptors(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    closefrom(3);
    limit_descriptors(8);

    asking_works();
    reach_queue *queues[8];
    size_t count = 0;
    while (count < 8) {
        errno = 0;
        queues[count] = count % 2 == 0 ? reach_queue_create_manual() : reach_queue_create("eight");
        if (queues[count] == NULL) {
            require_int(errno, EMFILE);
            break;
        }
        count++;
    }
    require_message(count < 8, "%zu queues in eight descriptors", count);
    size_t used = count_descriptors_within(8);
    for (int i = 0; i < 20; i++) {
        require_refused(reach_queue_create("none left"), NULL, EMFILE);
        require_refused(reach_queue_create_manual(), NULL, EMFILE);
    }
    require_int(count_descriptors_within(8), used);
    asking_works();
    while (count > 0) {
        reach_queue_release(queues[--count]);
    }

    limit_descriptors(64);
    everything_works();
}

static void no_descriptors(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    reach_target *internet = target("0.0.0.0");
    reach_flags flags = 0xdeadbeef;
    closefrom(3);
    limit_descriptors(3);
    for (int i = 0; i < 3; i++) {
        require_refused(reach_get_flags(internet, &flags), false, EMFILE);
        require_refused(reach_is_online(), false, EMFILE);
        require_refused(reach_queue_create(NULL), NULL, EMFILE);
        require_refused(reach_wait(internet, 0, &flags), false, EMFILE);
    }
    require_int(flags, 0xdeadbeef);
    /* One is not enough, and is not lost. */
    limit_descriptors(4);
    for (int i = 0; i < 3; i++) {
        require_refused(reach_get_flags(internet, &flags), false, EMFILE);
    }
    limit_descriptors(64);
    require_int(count_descriptors(), 3);
    everything_works();
    reach_release(internet);
}

static void small_stacks(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    pthread_attr_t attributes;
    require(pthread_attr_init(&attributes) == 0);
    require(pthread_attr_setstacksize(&attributes, 65536) == 0);
    require(pthread_setattr_default_np(&attributes) == 0);
    everything_works();
}

static void *everything_on_a_thread(void *unused)
{
    (void)unused;
    everything_works();
    return NULL;
}

static void called_on_a_small_stack(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    pthread_attr_t attributes;
    pthread_t thread;
    require(pthread_attr_init(&attributes) == 0);
    require(pthread_attr_setstacksize(&attributes, 65536) == 0);
    require(pthread_create(&thread, &attributes, everything_on_a_thread, NULL) == 0);
    require(pthread_join(thread, NULL) == 0);
}

static void no_threads(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    /* Root in this namespace is still bound by the limit of its user outside, unless that is root too. */
    struct rlimit limit = { .rlim_cur = 0, .rlim_max = 0 };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    require(filter != NULL && setrlimit(RLIMIT_NPROC, &limit) == 0);
    require(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone3), 0) == 0);
    require(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone), 0) == 0);
    require(seccomp_load(filter) == 0);
    size_t used = count_descriptors();
    for (int i = 0; i < 20; i++) {
        require_refused(reach_queue_create(NULL), NULL, EAGAIN);
    }
    require_int(count_descriptors(), used);
    asking_works();
    reach_queue *queue = reach_queue_create_manual();
    reach_target *name = target_name(HOST);
    require(queue != NULL);
    /* A look-up needs a thread: that is an error now, or a failure of the resolver later; no answer in either case. */
    if (!reach_set_queue(name, queue)) {
        require_int(errno, EAGAIN);
    }
    reach_target *outside = target(OUTSIDE);
    require_flags(outside, ONLINE);
    require(reach_set_queue(outside, queue));
    require(reach_queue_dispatch(queue, 0) >= 0);
    require(reach_set_queue(outside, NULL));
    (void)reach_set_queue(name, NULL);
    reach_release(outside);
    reach_release(name);
    reach_queue_release(queue);
}

/* --------------------------------------------------------------------------------------------------- sandboxes --- */

static void refuse(int number, int error)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    require(filter != NULL);
    if (number == SCMP_SYS(socket)) {
        const struct scmp_arg_cmp family = { .arg = 0, .op = SCMP_CMP_EQ, .datum_a = AF_NETLINK };
        require(seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), number, 1, family) == 0);
    } else {
        require(seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), number, 0) == 0);
    }
    require(seccomp_load(filter) == 0);
    seccomp_release(filter);
}

static void without_netlink(void *argument)
{
    int error = *(const int *)argument;
    connected();
    reach_target *internet = target("0.0.0.0"), *own = target("127.0.0.1"), *localhost = target_name("localhost");
    reach_flags flags = 0xdeadbeef;
    reach_path path = { .flags = 0xdeadbeef };
    refuse(SCMP_SYS(socket), error);
    size_t used = count_descriptors();
    for (int i = 0; i < 10; i++) {
        require_refused(reach_get_flags(internet, &flags), false, error);
        require_refused(reach_get_flags(own, &flags), false, error);
        require_refused(reach_get_flags(localhost, &flags), false, error);
        require_refused(reach_get_path(internet, &path, sizeof path), false, error);
        require_refused(reach_is_online(), false, error);
        require_refused(reach_wait(internet, 0, &flags), false, error);
        require_refused(reach_wait(internet, 50, &flags), false, error);
        /* A queue opens its sockets when it is made or when it is first used. */
        errno = 0;
        reach_queue *queue = reach_queue_create_manual();
        if (queue == NULL) {
            require_int(errno, error);
        } else {
            require_refused(reach_set_queue(internet, queue), false, error);
            require_refused(reach_confirm(internet, 0, queue, answer, NULL, NULL), 0, error);
            reach_queue_release(queue);
        }
    }
    require_int(flags, 0xdeadbeef);
    require_int(path.flags, 0xdeadbeef);
    require_int(count_descriptors(), used);
    /* Nothing is known, so that a monitor has nothing to say. */
    require_int(reach_monitor_is_reachable(NULL), true);
    require_int(reach_monitor_get_status(NULL), REACH_STATUS_UNKNOWN);
    reach_release(internet);
    reach_release(own);
    reach_release(localhost);
}

/* Changes the network from a thread that was there before the sandbox, which binds only those that enter it and what
 * they start. Each byte that is written to it changes the route and is answered. */
static void *change_from_outside(void *argument)
{
    const int *ends = argument;
    char command;
    while (read(ends[0], &command, 1) == 1 && command != 0) {
        if (command == '+') {
            go_online();
        } else {
            go_offline();
        }
        require(write(ends[0], &command, 1) == 1);
    }
    return NULL;
}

static void change(const int *ends, char command)
{
    require(write(ends[1], &command, 1) == 1);
    require(command == 0 || read(ends[1], &command, 1) == 1);
}

/* A call that a sandbox refuses may cost a feature, never the truth of an answer. */
static void without_call(void *argument)
{
    int number = *(const int *)argument;
    connected();
    int ends[2];
    pthread_t outside;
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    require(pthread_create(&outside, NULL, change_from_outside, ends) == 0);
    refuse(number, EPERM);
    reach_target *internet = target("0.0.0.0");
    reach_flags flags = 0xdeadbeef;
    errno = 0;
    if (reach_get_flags(internet, &flags)) {
        require_int(flags, ONLINE);
    } else {
        require_int(errno, EPERM);
        require_int(flags, 0xdeadbeef);
    }
    struct recorder *recorder = recorder_create();
    errno = 0;
    reach_queue *queue = reach_queue_create_manual();
    if (queue == NULL) {
        require_int(errno, EPERM);
    } else {
        require(reach_set_callback(internet, record_event, recorder, NULL));
        errno = 0;
        if (!reach_set_queue(internet, queue)) {
            require_int(errno, EPERM);
        } else {
            change(ends, '-');
            require_event(recorder, queue, internet, 0);
            change(ends, '+');
            require_event(recorder, queue, internet, ONLINE);
            require(reach_set_queue(internet, NULL));
        }
        reach_queue_release(queue);
    }
    change(ends, 0);
    require(pthread_join(outside, NULL) == 0);
    reach_release(internet);
    recorder_free(recorder);
}

/* -------------------------------------------------------------------------------------------------------- fork --- */

/* Runs a function in a forked child and waits for it. A child that hangs is ended by its alarm, and has then failed. */
static void in_child(void (*function)(void *), void *argument)
{
    pid_t child = fork();
    require(child >= 0);
    if (child == 0) {
        alarm((unsigned)(2 * deadline_ms() / 1000));
        function(argument);
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        require(errno == EINTR);
    }
    require_message(status == 0, "the forked child ended with status 0x%x", status);
}

static void child_asks(void *unused)
{
    (void)unused;
    asking_works();
}

static void child_does_everything(void *unused)
{
    (void)unused;
    everything_works();
}

static void child_and_grandchild(void *unused)
{
    (void)unused;
    asking_works();
    in_child(child_asks, NULL);
    asking_works();
}

static void fork_before_and_after(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    in_child(child_does_everything, NULL);
    asking_works();
    in_child(child_does_everything, NULL);
    in_child(child_and_grandchild, NULL);
    asking_works();
    everything_works();
}

struct scheduled {
    reach_target *target;
    reach_queue *queue;
    struct recorder *recorder;
    bool thread;
};

static void child_of_scheduler(void *argument)
{
    struct scheduled *parent = argument;
    reach_target *fresh = target(OUTSIDE);
    reach_target *which;
    reach_flags flags;
    require_flags(parent->target, ONLINE);
    require_refused(reach_set_queue(fresh, parent->queue), false, ESTALE);
    require_refused(reach_queue_flush(parent->queue), false, ESTALE);
    require_refused(reach_confirm(fresh, 0, parent->queue, answer, NULL, NULL), 0, ESTALE);
    if (!parent->thread) {
        require_refused(reach_queue_fd(parent->queue), -1, ESTALE);
        require_refused(reach_queue_dispatch(parent->queue, 0), -1, ESTALE);
        require_refused(reach_queue_next(parent->queue, 0, &which, &flags), -1, ESTALE);
    }
    /* The parent's target is free to be scheduled here, on a queue of this process. */
    struct recorder *recorder = recorder_create();
    reach_queue *queue = reach_queue_create("child");
    require(queue != NULL);
    require(reach_set_callback(parent->target, record_event, recorder, NULL));
    require_message(reach_set_queue(parent->target, queue), "afresh: %s", errno_name(errno));
    go_offline();
    require_event(recorder, NULL, parent->target, 0);
    go_online();
    require_event(recorder, NULL, parent->target, ONLINE);
    require(reach_set_queue(parent->target, NULL));
    reach_release(fresh);
    reach_queue_release(queue);
    hearing_works(false);
}

static void fork_with_schedule(void *argument)
{
    bool thread = *(const bool *)argument;
    connected();
    struct scheduled parent = { .target = target(OUTSIDE), .recorder = recorder_create(), .thread = thread,
                                .queue = thread ? reach_queue_create("parent") : reach_queue_create_manual() };
    reach_queue *manual = thread ? NULL : parent.queue;
    require(parent.queue != NULL);
    require(reach_set_callback(parent.target, record_event, parent.recorder, NULL));
    require(reach_set_queue(parent.target, parent.queue));
    for (int round = 0; round < 3; round++) {
        in_child(child_of_scheduler, &parent);
        /* The child took the network down and up again. The parent may have looked in between, or not. */
        struct barrier *barrier = barrier_create(parent.queue, !thread);
        barrier_pass(barrier);
        while (recorder_pending(parent.recorder) > 0) {
            (void)next_event(parent.recorder, manual);
        }
        go_offline();
        require_event(parent.recorder, manual, parent.target, 0);
        go_online();
        require_event(parent.recorder, manual, parent.target, ONLINE);
        barrier_free(barrier);
    }
    require(reach_set_queue(parent.target, NULL));
    reach_release(parent.target);
    reach_queue_release(parent.queue);
}

struct forking {
    struct recorder *recorder;
    atomic_int children;
};

static void fork_inside(reach_target *target, reach_flags flags, void *info)
{
    struct forking *forking = info;
    if (flags == ONLINE) {
        in_child(child_asks, NULL);
        atomic_fetch_add(&forking->children, 1);
    }
    record(forking->recorder, target, flags);
}

static void fork_in_callback(void *argument)
{
    bool thread = *(const bool *)argument;
    connected();
    struct forking forking = { .recorder = recorder_create() };
    reach_queue *queue = thread ? reach_queue_create("forking") : reach_queue_create_manual();
    reach_queue *manual = thread ? NULL : queue;
    reach_target *outside = target(OUTSIDE);
    require(queue != NULL && reach_set_callback(outside, fork_inside, &forking, NULL));
    require(reach_set_queue(outside, queue));
    for (int i = 0; i < 3; i++) {
        go_offline();
        require_event(forking.recorder, manual, outside, 0);
        go_online();
        require_event(forking.recorder, manual, outside, ONLINE);
    }
    require_int(atomic_load(&forking.children), 3);
    require(reach_set_queue(outside, NULL));
    reach_release(outside);
    reach_queue_release(queue);
}

static atomic_bool stop;

static void *ask_all_the_time(void *argument)
{
    while (!atomic_load(&stop)) {
        reach_flags flags;
        require(reach_get_flags(argument, &flags));
    }
    return NULL;
}

static void *schedule_all_the_time(void *argument)
{
    reach_target *own = target(OUTSIDE);
    while (!atomic_load(&stop)) {
        require(reach_set_queue(own, argument));
        require(reach_set_queue(own, NULL));
    }
    reach_release(own);
    return NULL;
}

static void *wait_all_the_time(void *argument)
{
    while (!atomic_load(&stop)) {
        require(reach_wait(argument, 100, NULL));
    }
    return NULL;
}

/* Whatever the other threads are in the middle of, the child finds no lock held and no half-made thing. */
static void fork_beside_busy_threads(void *argument)
{
    (void)argument;
    connected();
    reach_target *internet = target("0.0.0.0");
    reach_queue *queue = reach_queue_create("busy");
    pthread_t threads[3];
    require(queue != NULL);
    require(pthread_create(&threads[0], NULL, ask_all_the_time, internet) == 0);
    require(pthread_create(&threads[1], NULL, schedule_all_the_time, queue) == 0);
    require(pthread_create(&threads[2], NULL, wait_all_the_time, internet) == 0);
    for (int i = 0; i < 150; i++) {
        in_child(child_asks, NULL);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < 3; i++) {
        require(pthread_join(threads[i], NULL) == 0);
    }
    reach_release(internet);
    reach_queue_release(queue);
    hearing_works(true);
}

/* What daemons do first. */
static void closed_behind_its_back(void *argument)
{
    (void)argument;
    connected();
    asking_works();
    closefrom(3);
    asking_works();
    go_offline();
    require(!reach_is_online() && errno == 0);
    go_online();
    /* The numbers are somebody else's now. */
    int taken[8];
    closefrom(3);
    for (size_t i = 0; i < 8; i++) {
        taken[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    asking_works();
    for (size_t i = 0; i < 8; i++) {
        require_message(fcntl(taken[i], F_GETFD) == FD_CLOEXEC, "descriptor %d was closed", taken[i]);
    }
    hearing_works(true);
}

/* ----------------------------------------------------------------------------------------------------- signals --- */

static atomic_ulong signals;

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&signals, 1);
}

/* A signal at each interval, whose handler does not restart system calls. The alarm is the harness's. */
static timer_t start_signals(long interval_us)
{
    timer_t timer;
    struct sigaction action = { .sa_handler = on_signal };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    struct timespec interval = { .tv_nsec = interval_us * 1000 };
    struct itimerspec often = { interval, interval };
    require(sigaction(SIGUSR1, &action, NULL) == 0);
    require(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    require(timer_settime(timer, 0, &often, NULL) == 0);
    return timer;
}

static void *flip_all_the_time(void *unused)
{
    (void)unused;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (!atomic_load(&stop)) {
        go_offline();
        go_online();
    }
    return NULL;
}

static void under_signals(void *argument)
{
    (void)argument;
    connected();
    reach_target *internet = target("0.0.0.0");
    reach_flags flags;
    pthread_t flipper;
    require(pthread_create(&flipper, NULL, flip_all_the_time, NULL) == 0);
    timer_t timer = start_signals(200);
    unsigned online = 0, offline = 0;
    while (atomic_load(&signals) < 5000) {
        require_message(reach_get_flags(internet, &flags), "asking: %s", errno_name(errno));
        require(flags == 0 || flags == ONLINE);
        require_message(reach_wait(internet, deadline_ms(), NULL), "waiting: %s", errno_name(errno));
        *(flags == 0 ? &offline : &online) += 1;
    }
    timer_delete(timer);
    atomic_store(&stop, true);
    require(pthread_join(flipper, NULL) == 0);
    require_message(online > 0 && offline > 0, "%u times online, %u times offline", online, offline);
    require_flags(internet, ONLINE);
    reach_release(internet);
}

static void dispatch_is_interrupted(void *argument)
{
    (void)argument;
    connected();
    reach_queue *queue = reach_queue_create_manual();
    require(queue != NULL);
    timer_t timer = start_signals(5000);
    require_refused(reach_queue_dispatch(queue, -1), -1, EINTR);
    timer_delete(timer);
    reach_queue_release(queue);
}

/* ------------------------------------------------------------------------------------------ loading, unloading --- */

struct loaded {
    void *handle;
    bool (*is_online)(void);
    reach_queue *(*queue_create)(const char *);
    void (*queue_release)(reach_queue *);
    reach_target *(*create_with_name)(const char *);
    bool (*set_callback)(reach_target *, reach_callback, void *, void (*)(void *));
    bool (*set_queue)(reach_target *, reach_queue *);
    void (*release)(reach_target *);
};

static void *function(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    require_message(found != NULL, "%s: %s", name, dlerror());
    return found;
}

#define LOAD(field, symbol) \
    do { \
        void *found_ = function(loaded.handle, symbol); \
        memcpy(&loaded.field, &found_, sizeof found_); \
    } while (0)

static struct loaded load(const char *path)
{
    struct loaded loaded = { .handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) };
    require_message(loaded.handle != NULL, "%s: %s", path, dlerror());
    LOAD(is_online, "reach_is_online");
    LOAD(queue_create, "reach_queue_create");
    LOAD(queue_release, "reach_queue_release");
    LOAD(create_with_name, "reach_create_with_name");
    LOAD(set_callback, "reach_set_callback");
    LOAD(set_queue, "reach_set_queue");
    LOAD(release, "reach_release");
    return loaded;
}

/* Another file with the same content, so that the loader takes it for another library. */
static void copy_library(char *path)
{
    Dl_info information;
    bool (*known)(void) = reach_is_online;
    void *address;
    memcpy(&address, &known, sizeof address);
    require(dladdr(address, &information) != 0);
    int from = open(information.dli_fname, O_RDONLY | O_CLOEXEC), to = mkstemp(path);
    char buffer[65536];
    ssize_t count;
    require(from >= 0 && to >= 0);
    while ((count = read(from, buffer, sizeof buffer)) > 0) {
        require(write(to, buffer, (size_t)count) == count);
    }
    close(from);
    close(to);
}

static size_t mappings(const char *path)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    size_t count = 0;
    require(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        count += strstr(line, path) != NULL;
    }
    fclose(maps);
    return count;
}

static void load_and_unload(void *argument)
{
    (void)argument;
    connected();
    char path[] = "/tmp/reach-copy-XXXXXX";
    copy_library(path);

    struct loaded first = load(path);
    require(first.is_online());
    require(dlclose(first.handle) == 0);
    size_t mapped = mappings(path), used = count_descriptors();
    require_message(mapped > 0, "the library was unloaded");
    for (int i = 0; i < 200; i++) {
        struct loaded again = load(path);
        require(again.is_online());
        require(dlclose(again.handle) == 0);
        /* It stays in place, so that this is no use of what is gone. */
        require(again.is_online());
    }
    require_int(mappings(path), mapped);
    require_int(count_descriptors(), used);

    /* With a live schedule: the library goes on working for what was made by it. */
    struct recorder *recorder = recorder_create();
    struct loaded live = load(path);
    reach_queue *queue = live.queue_create("unloaded");
    reach_target *outside = live.create_with_name(OUTSIDE);
    require(queue != NULL && outside != NULL);
    require(live.set_callback(outside, record_event, recorder, record_release) && live.set_queue(outside, queue));
    require(dlclose(live.handle) == 0);
    go_offline();
    require_event(recorder, NULL, outside, 0);
    go_online();
    require_event(recorder, NULL, outside, ONLINE);
    require(live.set_queue(outside, NULL));
    live.release(outside);
    live.queue_release(queue);
    wait_releases(recorder, NULL, 1);
    unlink(path);
}

static void two_copies(void *argument)
{
    (void)argument;
    connected();
    char path[] = "/tmp/reach-copy-XXXXXX";
    copy_library(path);
    struct loaded other = load(path);
    bool (*own)(void) = reach_is_online;
    require(memcmp(&own, &other.is_online, sizeof own) != 0);

    struct recorder *recorder = recorder_create(), *recorder_of_other = recorder_create();
    reach_queue *queue = reach_queue_create("one"), *queue_of_other = other.queue_create("other");
    reach_target *outside = target(OUTSIDE), *outside_of_other = other.create_with_name(OUTSIDE);
    require(queue != NULL && queue_of_other != NULL && outside_of_other != NULL);
    require(reach_set_callback(outside, record_event, recorder, record_release));
    require(other.set_callback(outside_of_other, record_event, recorder_of_other, record_release));
    require(reach_set_queue(outside, queue) && other.set_queue(outside_of_other, queue_of_other));
    for (int i = 0; i < 5; i++) {
        go_offline();
        require_event(recorder, NULL, outside, 0);
        require_event(recorder_of_other, NULL, outside_of_other, 0);
        require(!reach_is_online() && !other.is_online());
        go_online();
        require_event(recorder, NULL, outside, ONLINE);
        require_event(recorder_of_other, NULL, outside_of_other, ONLINE);
        require(reach_is_online() && other.is_online());
    }
    require(reach_set_queue(outside, NULL) && other.set_queue(outside_of_other, NULL));
    reach_release(outside);
    other.release(outside_of_other);
    reach_queue_release(queue);
    other.queue_release(queue_of_other);
    wait_releases(recorder, NULL, 1);
    wait_releases(recorder_of_other, NULL, 1);
    unlink(path);
}

/* --------------------------------------------------------------------------------------------------- strangers --- */

/* Sends lies to every netlink socket of this namespace but the kernel's and the sender's own: "no such route" as the
 * answer to each question that may come next, and the loss of a link that is there. Only root in the namespace can. */
static unsigned lie_to_everybody(int liar, unsigned own_port)
{
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
    } refusal = { .header = { .nlmsg_len = sizeof refusal, .nlmsg_type = NLMSG_ERROR },
                  .error = { .error = -ENETUNREACH } };
    struct {
        struct nlmsghdr header;
        struct ifinfomsg link;
    } loss = { .header = { .nlmsg_len = sizeof loss, .nlmsg_type = RTM_DELLINK },
               .link = { .ifi_index = 1, .ifi_change = ~0u } };
    FILE *sockets = fopen("/proc/self/net/netlink", "re");
    char line[256];
    unsigned victims = 0;
    require(sockets != NULL && fgets(line, sizeof line, sockets) != NULL);
    while (fgets(line, sizeof line, sockets) != NULL) {
        unsigned family, port;
        if (sscanf(line, "%*s %u %u", &family, &port) != 2 || family != NETLINK_ROUTE) {
            continue;
        }
        if (port == 0 || port == own_port) {
            continue;
        }
        struct sockaddr_nl victim = { .nl_family = AF_NETLINK, .nl_pid = port };
        for (uint32_t sequence = 0; sequence < 64; sequence++) {
            refusal.header.nlmsg_seq = sequence;
            /* A victim that is full has had enough. */
            (void)sendto(liar, &refusal, sizeof refusal, MSG_DONTWAIT, (struct sockaddr *)&victim, sizeof victim);
        }
        (void)sendto(liar, &loss, sizeof loss, MSG_DONTWAIT, (struct sockaddr *)&victim, sizeof victim);
        victims++;
    }
    fclose(sockets);
    return victims;
}

static void lied_to(void *argument)
{
    (void)argument;
    connected();
    int liar = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct sockaddr_nl own = { .nl_family = AF_NETLINK };
    socklen_t length = sizeof own;
    require(liar >= 0 && bind(liar, (struct sockaddr *)&own, sizeof own) == 0);
    require(getsockname(liar, (struct sockaddr *)&own, &length) == 0);

    struct recorder *recorder = recorder_create();
    reach_queue *queue = reach_queue_create_manual();
    reach_target *outside = target(OUTSIDE), *internet = target("0.0.0.0");
    require(queue != NULL && reach_set_callback(outside, record_event, recorder, NULL));
    require(reach_set_queue(outside, queue));
    require_flags(internet, ONLINE);
    for (int round = 0; round < 40; round++) {
        /* Two for questions of the process, two for the queue. */
        require(lie_to_everybody(liar, own.nl_pid) >= 4);
        require_flags(internet, ONLINE);
        require_flags(outside, ONLINE);
        require(reach_queue_dispatch(queue, 0) == 0);
        require_int(recorder_pending(recorder), 0);
        go_offline();
        require(lie_to_everybody(liar, own.nl_pid) >= 4);
        require_flags(internet, 0);
        require_event(recorder, queue, outside, 0);
        require(lie_to_everybody(liar, own.nl_pid) >= 4);
        go_online();
        require_flags(internet, ONLINE);
        require_event(recorder, queue, outside, ONLINE);
    }
    require(reach_set_queue(outside, NULL));
    reach_release(outside);
    reach_release(internet);
    reach_queue_release(queue);
    recorder_free(recorder);
    close(liar);
}

/* -------------------------------------------------------------------------------------------------- namespaces --- */

static void namespace_is_left(void *argument)
{
    (void)argument;
    connected();
    reach_target *internet = target("0.0.0.0");
    require_flags(internet, ONLINE);
    reach_queue *old = reach_queue_create_manual();
    struct recorder *recorder = recorder_create();
    reach_target *outside = target(OUTSIDE);
    require(old != NULL && reach_set_callback(outside, record_event, recorder, NULL));
    require(reach_set_queue(outside, old));

    int before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    require(before >= 0 && unshare(CLONE_NEWNET) == 0);
    /* The process's sockets are those of the first question, wherever this thread is now. */
    require_flags(internet, ONLINE);
    /* A queue belongs where it was made: nothing is there. */
    reach_queue *new = reach_queue_create_manual();
    require(new != NULL);
    reach_target *here = target(OUTSIDE);
    struct recorder *recorder_here = recorder_create();
    require(reach_set_callback(here, record_event, recorder_here, NULL) && reach_set_queue(here, new));
    ip("link set lo up");
    ip("link add here0 type veth peer name here1");
    ip("address add 10.7.0.2/24 dev here0");
    ip("link set here0 up");
    ip("link set here1 up");
    wait_link_running("here0", true);
    ip("route add default via 10.7.0.1 dev here0");
    require_event(recorder_here, new, here, ONLINE);
    require_int(recorder_pending(recorder), 0);

    require(setns(before, CLONE_NEWNET) == 0);
    go_offline();
    require_event(recorder, old, outside, 0);
    require_flags(internet, 0);
    require(reach_set_queue(outside, NULL) && reach_set_queue(here, NULL));
    reach_release(internet);
    reach_release(outside);
    reach_release(here);
    reach_queue_release(old);
    reach_queue_release(new);
}

static void ordinary(void *argument)
{
    (void)argument;
    connected();
    hosts_file();
    everything_works();
}

/* The whole of it again for a user who has nothing to say outside of the namespace that he makes. */
static void as_ordinary_user(void *argument)
{
    (void)argument;
    if (geteuid() == 0) {
        require(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
        require(prctl(PR_SET_DUMPABLE, 1) == 0);
    }
    require(geteuid() != 0);
    struct scenario scenario = { ordinary, NULL };
    void *state = &scenario;
    run_in_namespace(&state);
}

/* Rules that tell users apart, and a process that becomes another user, as daemons do: the answer is that user's. */
static void as_another_user(void *argument)
{
    (void)argument;
    if (geteuid() != 0 || unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) {
        skip_scenario("only root can become another user");
    }
    network("link set lo up\nveth wan0 10.1.0.2/24\nroute add default via 10.1.0.1 table 100\n"
            "rule add uidrange 0-0 lookup 100\n");
    reach_target *asked = target("198.51.100.9");
    reach_target *internet = target("0.0.0.0");
    for (int round = 0; round < 2; round++) {
        require_flags(asked, REACH_FLAG_REACHABLE);
        require_flags(internet, REACH_FLAG_REACHABLE);
        require(seteuid(65534) == 0);
        require_flags(asked, 0);
        require_flags(internet, 0);
        reach_target *fresh = target("198.51.100.9");
        require_flags(fresh, 0);
        reach_release(fresh);
        require(seteuid(0) == 0);
    }
    reach_release(asked);
    reach_release(internet);
}

int main(void)
{
    static const int refusals[] = { EPERM, EACCES, EAFNOSUPPORT, EPROTONOSUPPORT };
    static const int calls[] = {
        SCMP_SYS(bind),         SCMP_SYS(setsockopt),     SCMP_SYS(sendto),        SCMP_SYS(recvfrom),
        SCMP_SYS(recvmmsg),     SCMP_SYS(epoll_create1),  SCMP_SYS(epoll_ctl),     SCMP_SYS(eventfd2),
        SCMP_SYS(inotify_init1), SCMP_SYS(timerfd_create), SCMP_SYS(timerfd_settime), SCMP_SYS(ioctl),
        SCMP_SYS(madvise),
    };
    static const bool on_a_thread = true, by_hand = false;
    const struct CMUnitTest tests[] = {
        namespace_test(ordinary),
        namespace_test(without_sys),
        namespace_test(without_proc),
        namespace_test(without_etc),
        namespace_test(read_only),
        namespace_test(empty_root),
        namespace_test(eight_descriptors),
        namespace_test(no_descriptors),
        namespace_test(small_stacks),
        namespace_test(called_on_a_small_stack),
        namespace_test(no_threads),
        namespace_test_with("without_netlink_EPERM", without_netlink, (void *)&refusals[0]),
        namespace_test_with("without_netlink_EACCES", without_netlink, (void *)&refusals[1]),
        namespace_test_with("without_netlink_EAFNOSUPPORT", without_netlink, (void *)&refusals[2]),
        namespace_test_with("without_netlink_EPROTONOSUPPORT", without_netlink, (void *)&refusals[3]),
        namespace_test_with("without_bind", without_call, (void *)&calls[0]),
        namespace_test_with("without_setsockopt", without_call, (void *)&calls[1]),
        namespace_test_with("without_sendto", without_call, (void *)&calls[2]),
        namespace_test_with("without_recvfrom", without_call, (void *)&calls[3]),
        namespace_test_with("without_recvmmsg", without_call, (void *)&calls[4]),
        namespace_test_with("without_epoll_create1", without_call, (void *)&calls[5]),
        namespace_test_with("without_epoll_ctl", without_call, (void *)&calls[6]),
        namespace_test_with("without_eventfd", without_call, (void *)&calls[7]),
        namespace_test_with("without_inotify", without_call, (void *)&calls[8]),
        namespace_test_with("without_timerfd_create", without_call, (void *)&calls[9]),
        namespace_test_with("without_timerfd_settime", without_call, (void *)&calls[10]),
        namespace_test_with("without_ioctl", without_call, (void *)&calls[11]),
        namespace_test_with("without_madvise", without_call, (void *)&calls[12]),
        namespace_test(fork_before_and_after),
        namespace_test_with("fork_with_thread_queue", fork_with_schedule, (void *)&on_a_thread),
        namespace_test_with("fork_with_manual_queue", fork_with_schedule, (void *)&by_hand),
        namespace_test_with("fork_in_callback_of_thread_queue", fork_in_callback, (void *)&on_a_thread),
        namespace_test_with("fork_in_callback_of_manual_queue", fork_in_callback, (void *)&by_hand),
        namespace_test(fork_beside_busy_threads),
        namespace_test(closed_behind_its_back),
        namespace_test(under_signals),
        namespace_test(dispatch_is_interrupted),
        namespace_test(load_and_unload),
        namespace_test(two_copies),
        namespace_test(lied_to),
        namespace_test(namespace_is_left),
        process_test(as_ordinary_user),
        process_test(as_another_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
