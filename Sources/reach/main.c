/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * reach - say whether the internet, a host or an address can be reached, once, or at each change, or when it is so.
 *
 * One loop serves all: a manual queue, the signals and the reader of the output are waited for together in poll.
 * Whatever is printed comes from <reach.h>, so that any program can know what this one does.
 */
#define _GNU_SOURCE
#include "options.h"
#include "report.h"
#include "subject.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* How long a name may take when nobody says otherwise: two tries of a resolver with its usual five seconds. */
#define NAME_TIMEOUT_MS 10000

struct session {
    struct options options;
    struct subject *subjects;
    int count;
    reach_queue *queue;
    int signals;        /* a signalfd, or -1 where signals are left to end the program as they do */
    int64_t deadline;   /* on the monotonic clock, or FOREVER */
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void set_deadline(struct session *session, int64_t timeout_ms)
{
    session->deadline = timeout_ms == FOREVER ? FOREVER : now_ms() + timeout_ms;
}

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "reach: %s: %s\n", what, strerror(errno));
    exit(STATUS_UNKNOWN);
}

/* A descriptor that was closed by the caller would be given to the next socket, and be written to as if it were the
   output. Open the wrong way round, it stays taken, and using it fails as it should. */
static void occupy_standard_descriptors(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            exit(STATUS_UNKNOWN);
}

/* A watch is ended by the usual signals as by its deadline. nohup asks for SIGHUP to be ignored, and is heeded. */
static void take_signals(struct session *session)
{
    struct sigaction hangup;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    session->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (session->signals < 0 || sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        fail("cannot wait for signals");
}

enum outcome { CAME_UP, TIME_OVER, ENDED };

/* Waits until there may be news, and lets the queue report it to the subjects. */
static enum outcome wait_for_news(struct session *session)
{
    struct pollfd waits[] = {
        {.fd = reach_queue_fd(session->queue), .events = POLLIN},
        {.fd = session->signals, .events = POLLIN},
        /* Nothing is asked for, so that only the going of the reader is told, at once and not with the next line. */
        {.fd = session->options.watch ? STDOUT_FILENO : -1, .events = 0},
    };
    int timeout = -1;

    if (session->deadline != FOREVER) {
        int64_t left = session->deadline - now_ms();
        if (left <= 0)
            return TIME_OVER;
        timeout = left > INT_MAX ? INT_MAX : (int)left;
    }
    if (poll(waits, sizeof waits / sizeof *waits, timeout) < 0 && errno != EINTR)
        fail("cannot wait");
    if (waits[1].revents != 0 || (waits[2].revents & (POLLERR | POLLHUP)) != 0)
        return ENDED;
    if (waits[0].revents != 0 && reach_queue_dispatch(session->queue, 0) < 0 && errno != EINTR)
        fail("cannot hear of changes");
    return CAME_UP;
}

static void make_subjects(struct session *session)
{
    const struct options *options = &session->options;

    session->count = options->pair || options->operand_count == 0 ? 1 : options->operand_count;
    session->subjects = calloc((size_t)session->count, sizeof *session->subjects);
    if (session->subjects == NULL)
        fail("cannot begin");
    if (options->pair)
        subject_make_pair(session->subjects, options->operands[0], options->operands[1]);
    else if (options->operand_count == 0)
        subject_make(session->subjects, options, NULL);
    else
        for (int i = 0; i < session->count; i++)
            subject_make(&session->subjects[i], options, options->operands[i]);
}

static void make_queue(struct session *session)
{
    session->queue = reach_queue_create_manual();
    if (session->queue == NULL)
        fail("cannot hear of changes");
}

static int state(const struct session *session)
{
    return subjects_state(session->subjects, session->count);
}

/* The status to end with when the output cannot be written: unless nobody reads it, what was asked for was not done. */
static int give_up(const struct session *session, enum report_result result)
{
    if (result == REPORT_UNREAD)
        return state(session);
    fail("cannot write");
}

static int report_all(const struct session *session)
{
    for (int i = 0; i < session->count; i++) {
        enum report_result result = report(&session->subjects[i], NULL, &session->options);
        if (result != REPORT_WRITTEN)
            return give_up(session, result);
    }
    return state(session);
}

static bool any_is_open(const struct session *session)
{
    for (int i = 0; i < session->count; i++)
        if (subject_is_open(&session->subjects[i]))
            return true;
    return false;
}

static void ask_all(struct session *session)
{
    for (int i = 0; i < session->count; i++)
        subject_ask(&session->subjects[i]);
}

/* One answer each, with names looked up. */
static int answer_once(struct session *session)
{
    const int64_t timeout = session->options.timeout_ms;

    ask_all(session);
    if (any_is_open(session)) {
        set_deadline(session, timeout == FOREVER ? NAME_TIMEOUT_MS : timeout);
        make_queue(session);
        for (int i = 0; i < session->count; i++)
            if (subject_is_open(&session->subjects[i]))
                subject_schedule(&session->subjects[i], session->queue);
        /* A look-up need not change the flags, so that no callback tells of it: whatever comes up may be it. All are
           asked, so that the answers are those of one moment; but the reason why one could not be asked is kept. */
        while (any_is_open(session) && wait_for_news(session) == CAME_UP)
            for (int i = 0; i < session->count; i++)
                if (session->subjects[i].answer.error == 0)
                    subject_ask(&session->subjects[i]);
    }
    return report_all(session);
}

static void schedule_all(struct session *session)
{
    make_queue(session);
    for (int i = 0; i < session->count; i++)
        subject_schedule(&session->subjects[i], session->queue);
}

static int wait_until_wanted(struct session *session)
{
    const struct options *options = &session->options;
    int64_t limit = options->wait_ms;

    if (limit == FOREVER || (options->timeout_ms != FOREVER && options->timeout_ms < limit))
        limit = options->timeout_ms;
    set_deadline(session, limit);
    schedule_all(session);
    for (int i = 0; i < session->count; i++)
        if (session->subjects[i].answer.error != 0)
            return report_all(session);   /* nothing will tell when it changes */
    while (state(session) != options->wanted && wait_for_news(session) == CAME_UP)
        ask_all(session);
    return report_all(session);
}

/* What a watch has last told of a subject. */
struct told {
    bool any;
    struct answer answer;
};

static bool is_news(const struct answer *before, const struct answer *now)
{
    return before->state != now->state || before->error != now->error || before->path.flags != now->path.flags ||
           before->path.interface_index != now->path.interface_index || before->path.reason != now->path.reason;
}

/* Tells of a subject what was not told yet. Of a name, nothing is told while it is being looked up. */
static enum report_result tell(const struct subject *subject, struct told *told, const struct options *options)
{
    const struct answer before = told->answer;
    const bool first = !told->any;

    if (subject_is_open(subject) || (!first && !is_news(&before, &subject->answer)))
        return REPORT_WRITTEN;
    *told = (struct told){.any = true, .answer = subject->answer};
    return report(subject, first ? NULL : &before, options);
}

static int watch(struct session *session)
{
    struct told *told = calloc((size_t)session->count, sizeof *told);
    enum report_result result = REPORT_WRITTEN;

    if (told == NULL)
        fail("cannot begin");
    take_signals(session);
    set_deadline(session, session->options.timeout_ms);
    schedule_all(session);
    for (int i = 0; i < session->count; i++) {
        if (session->subjects[i].answer.error != 0) {
            /* A watch that cannot hear would look like a network that never changes. */
            errno = session->subjects[i].answer.error;
            fail("cannot watch");
        }
    }
    do {
        for (int i = 0; i < session->count && result == REPORT_WRITTEN; i++) {
            struct subject *subject = &session->subjects[i];

            if (subject->heard || subject->answer.state == STATUS_UNKNOWN)
                subject_ask(subject);
            result = tell(subject, &told[i], &session->options);
        }
    } while (result == REPORT_WRITTEN && wait_for_news(session) == CAME_UP);
    free(told);
    return result == REPORT_WRITTEN ? state(session) : give_up(session, result);
}

int main(int argc, char **argv)
{
    struct session session = {.signals = -1, .deadline = FOREVER};
    int status;

    occupy_standard_descriptors();
    options_read(&session.options, argc, argv);
    /* Then a reader that has gone is an error of write, and the exit status still tells the answer. */
    signal(SIGPIPE, SIG_IGN);
    make_subjects(&session);
    if (session.options.watch)
        status = watch(&session);
    else if (session.options.wait)
        status = wait_until_wanted(&session);
    else
        status = answer_once(&session);

    for (int i = 0; i < session.count; i++)
        subject_free(&session.subjects[i]);
    free(session.subjects);
    reach_queue_release(session.queue);
    return status;
}
