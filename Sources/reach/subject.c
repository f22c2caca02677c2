/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "subject.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static reach_target *must(reach_target *target, const char *what)
{
    if (target == NULL) {
        if (errno == EINVAL || errno == EAFNOSUPPORT)
            options_reject("'%s' cannot be asked about: %s", what, strerror(errno));
        fprintf(stderr, "reach: cannot ask about '%s': %s\n", what, strerror(errno));
        exit(STATUS_UNKNOWN);
    }
    return target;
}

/* NULL when text is no address. AI_NUMERICHOST keeps getaddrinfo from looking anything up. */
static struct addrinfo *parse_address(const char *text)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *result = NULL;

    return getaddrinfo(text, NULL, &hints, &result) == 0 ? result : NULL;
}

static reach_target *make_zero(void)
{
    const struct sockaddr_in zero = {.sin_family = AF_INET};

    return must(reach_create_with_address((const struct sockaddr *)&zero, sizeof zero), "0.0.0.0");
}

/* Below localhost nothing is ever looked up, so that such a name can be scheduled even with --no-resolve. */
static bool is_localhost(const char *name)
{
    size_t length = strlen(name);
    static const char suffix[] = "localhost";
    const size_t suffix_length = sizeof suffix - 1;

    if (length > 0 && name[length - 1] == '.')
        length--;
    if (length < suffix_length || strncasecmp(name + length - suffix_length, suffix, suffix_length) != 0)
        return false;
    return length == suffix_length || name[length - suffix_length - 1] == '.';
}

void subject_make(struct subject *subject, const struct options *options, const char *operand)
{
    *subject = (struct subject){0};
    if (operand == NULL) {
        subject->asked = make_zero();
        subject->watched = reach_retain(subject->asked);
        return;
    }
    subject->name = operand;
    subject->asked = must(reach_create_with_name(operand), operand);
    if (options->resolve || is_localhost(operand)) {
        subject->watched = reach_retain(subject->asked);
    } else {
        struct addrinfo *address = parse_address(operand);
        /* Scheduling would look the name up. Else it answers as the internet does, which then tells when to ask. */
        subject->watched = address != NULL ? reach_retain(subject->asked) : make_zero();
        if (address != NULL)
            freeaddrinfo(address);
    }
}

void subject_make_pair(struct subject *subject, const char *local, const char *remote)
{
    struct addrinfo *from = parse_address(local);
    struct addrinfo *to = parse_address(remote);

    *subject = (struct subject){0};
    if (from == NULL || to == NULL)
        options_reject("--pair takes addresses, and '%s' is none", from == NULL ? local : remote);
    subject->asked =
        must(reach_create_with_address_pair(from->ai_addr, from->ai_addrlen, to->ai_addr, to->ai_addrlen), remote);
    subject->watched = reach_retain(subject->asked);
    freeaddrinfo(from);
    freeaddrinfo(to);
    subject->local = local;
    subject->name = remote;
}

static bool looks_up(const struct subject *subject)
{
    return subject->watched == subject->asked;
}

void subject_ask(struct subject *subject)
{
    struct answer *answer = &subject->answer;

    memset(answer, 0, sizeof *answer);
    subject->heard = false;
    if (!reach_get_path(subject->asked, &answer->path, sizeof answer->path)) {
        answer->error = errno;
        answer->state = STATUS_UNKNOWN;
        memset(&answer->path, 0, sizeof answer->path);
    } else if (answer->path.reason == REACH_REASON_NOT_RESOLVED && looks_up(subject)) {
        answer->state = STATUS_UNKNOWN;
    } else {
        answer->state = reach_flags_is_online(answer->path.flags) ? STATUS_ONLINE : STATUS_OFFLINE;
    }
}

bool subject_is_open(const struct subject *subject)
{
    return subject->answer.state == STATUS_UNKNOWN && subject->answer.error == 0;
}

static void changed(reach_target *target, reach_flags flags, void *info)
{
    struct subject *subject = info;

    (void)target;
    (void)flags;
    subject->heard = true;
}

bool subject_schedule(struct subject *subject, reach_queue *queue)
{
    if (!reach_set_callback(subject->watched, changed, subject, NULL) || !reach_set_queue(subject->watched, queue)) {
        subject->answer = (struct answer){.state = STATUS_UNKNOWN, .error = errno};
        return false;
    }
    /* Asked after scheduling, so that no change can fall between the two. */
    subject_ask(subject);
    return subject->answer.error == 0;
}

int subjects_state(const struct subject *subjects, int count)
{
    int state = STATUS_ONLINE;

    for (int i = 0; i < count; i++) {
        if (subjects[i].answer.state == STATUS_OFFLINE)
            return STATUS_OFFLINE;
        if (subjects[i].answer.state == STATUS_UNKNOWN)
            state = STATUS_UNKNOWN;
    }
    return state;
}

void subject_free(struct subject *subject)
{
    reach_set_queue(subject->watched, NULL);
    reach_release(subject->watched);
    reach_release(subject->asked);
}
