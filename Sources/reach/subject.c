/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "subject.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
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

/* No link has it: the kernel's indexes are positive 32-bit integers that count up from 1. */
#define NO_LINK ((uint32_t)INT32_MAX)

/* The index of a link by its name or its number. One that does not exist gets NO_LINK, so that the answer is that there
   is no such link, as for an address alone. False with errno when it could not be told. */
static bool find_link(const char *link, uint32_t *index)
{
    unsigned long number = if_nametoindex(link);
    const int error = errno;
    char *end;

    if (number == 0) {
        number = strtoul(link, &end, 10);
        if (*link < '0' || *link > '9' || *end != '\0' || number >= NO_LINK) {
            /* It opens a socket to ask, and there may be none to have. */
            errno = error;
            if (error != ENODEV && error != ENXIO)
                return false;
            number = NO_LINK;
        }
    }
    *index = (uint32_t)number;
    return true;
}

/* Reads an address in text as reach_create_with_name does, for a pair of them, which is not made from text; getaddrinfo
   would take no link that does not exist, and no link at all with most addresses. An IPv4 address is written as an IPv6
   one, which has a place for the link. False when text is no address. Ends the program when it cannot be told. */
static bool parse_address(const char *text, struct sockaddr_in6 *address)
{
    const char *link = strchr(text, '%');
    char *plain = strndup(text, link != NULL ? (size_t)(link - text) : strlen(text));
    struct in6_addr *bytes = &address->sin6_addr;
    struct in_addr v4;
    bool is_address = true;

    *address = (struct sockaddr_in6){.sin6_family = AF_INET6};
    if (plain == NULL || (link != NULL && link[1] == '\0')) {
        is_address = false;
    } else if (inet_aton(plain, &v4) != 0) {
        bytes->s6_addr[10] = bytes->s6_addr[11] = 0xFF;
        memcpy(&bytes->s6_addr[12], &v4, sizeof v4);
    } else {
        is_address = inet_pton(AF_INET6, plain, bytes) == 1;
    }
    free(plain);
    if (is_address && link != NULL && !find_link(link + 1, &address->sin6_scope_id))
        must(NULL, text);
    return is_address;
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
        struct sockaddr_in6 unused;
        /* Scheduling would look the name up. Else it answers as the internet does, which then tells when to ask. */
        subject->watched = parse_address(operand, &unused) ? reach_retain(subject->asked) : make_zero();
    }
}

void subject_make_pair(struct subject *subject, const char *local, const char *remote)
{
    struct sockaddr_in6 from, to;

    *subject = (struct subject){0};
    if (!parse_address(local, &from))
        options_reject("--pair takes addresses, and '%s' is none", local);
    if (!parse_address(remote, &to))
        options_reject("--pair takes addresses, and '%s' is none", remote);
    subject->asked = must(reach_create_with_address_pair((const struct sockaddr *)&from, sizeof from,
                                                         (const struct sockaddr *)&to, sizeof to), remote);
    subject->watched = reach_retain(subject->asked);
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
