/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "report.h"

#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the library numbers, in the words of JSON. */
static const char *const kind_tokens[] = {
    [REACH_LINK_NONE] = "none",         [REACH_LINK_OTHER] = "other", [REACH_LINK_LOOPBACK] = "loopback",
    [REACH_LINK_ETHERNET] = "ethernet", [REACH_LINK_WIFI] = "wifi",   [REACH_LINK_CELLULAR] = "cellular",
    [REACH_LINK_PPP] = "ppp",           [REACH_LINK_TUNNEL] = "tunnel",
};

static const char *const reason_tokens[] = {
    [REACH_REASON_REACHABLE] = "reachable",
    [REACH_REASON_NO_ROUTE] = "no_route",
    [REACH_REASON_UNREACHABLE] = "unreachable",
    [REACH_REASON_PROHIBITED] = "prohibited",
    [REACH_REASON_BLACKHOLE] = "blackhole",
    [REACH_REASON_NO_CARRIER] = "no_carrier",
    [REACH_REASON_LOWER_LAYER_DOWN] = "lower_layer_down",
    [REACH_REASON_LINK_DISABLED] = "link_disabled",
    [REACH_REASON_NO_LINK] = "no_link",
    [REACH_REASON_NO_SOURCE] = "no_source",
    [REACH_REASON_NOT_LOCAL] = "not_local",
    [REACH_REASON_DORMANT] = "dormant",
    [REACH_REASON_NAME_NOT_FOUND] = "name_not_found",
    [REACH_REASON_RESOLVER_FAILED] = "resolver_failed",
    [REACH_REASON_NOT_RESOLVED] = "not_resolved",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A newer library may know kinds and reasons that this program does not. */
static const char *kind_token(int32_t kind)
{
    return kind >= 0 && (size_t)kind < COUNT(kind_tokens) ? kind_tokens[kind] : kind_tokens[REACH_LINK_OTHER];
}

static const char *reason_token(int32_t reason)
{
    return reason >= 0 && (size_t)reason < COUNT(reason_tokens) ? reason_tokens[reason] : "other";
}

static const char *state_text(int state)
{
    return state == STATUS_ONLINE ? "online" : state == STATUS_OFFLINE ? "offline" : "unknown";
}

static const char *reason_text(const struct answer *answer)
{
    return answer->error != 0 ? strerror(answer->error) : reach_reason_text(answer->path.reason);
}

/* ------------------------------------------------------------------------------------------------------- text --- */

static bool has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return (no_colour == NULL || *no_colour == '\0') && terminal != NULL && strcmp(terminal, "dumb") != 0 &&
           isatty(STDOUT_FILENO);
}

static void print_state(int state)
{
    const char *colour = state == STATUS_ONLINE ? "32" : state == STATUS_OFFLINE ? "31" : "33";

    if (has_colour())
        printf("\033[%sm%s\033[0m", colour, state_text(state));
    else
        fputs(state_text(state), stdout);
}

static void print_label(const struct subject *subject, const char *internet)
{
    if (subject->local != NULL) {
        text_print(stdout, subject->local);
        fputs(" -> ", stdout);
    }
    text_print(stdout, subject->name != NULL ? subject->name : internet);
}

/* separator is ' ' for people and 'T', with the zone, for programs. */
static void format_time(char *buffer, size_t size, char separator)
{
    struct timespec now;
    struct tm local;
    char zone[8];
    size_t used;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    used = strftime(buffer, size, "%Y-%m-%d %H:%M:%S", &local);
    used += (size_t)snprintf(buffer + used, size - used, ".%03ld", now.tv_nsec / 1000000);
    if (separator == 'T') {
        buffer[10] = 'T';
        strftime(zone, sizeof zone, "%z", &local);
        snprintf(buffer + used, size - used, "%.3s:%s", zone, zone + 3);
    }
}

static void print_line(const struct subject *subject, const struct answer *before)
{
    const struct answer *answer = &subject->answer;
    const char *interface = answer->path.interface_name;

    if (subject->name != NULL) {
        print_label(subject, "");
        fputs(": ", stdout);
    }
    if (before != NULL && before->state != answer->state) {
        print_state(before->state);
        fputs(" -> ", stdout);
    }
    print_state(answer->state);
    printf(" (%s", reason_text(answer));
    if (*interface != '\0') {
        fputs("; ", stdout);
        if (before != NULL && *before->path.interface_name != '\0' &&
            strcmp(before->path.interface_name, interface) != 0) {
            text_print(stdout, before->path.interface_name);
            fputs(" -> ", stdout);
        }
        text_print(stdout, interface);
    }
    fputs(")\n", stdout);
}

/* The reason in a sentence, from what reach_get_path tells. */
static void print_sentence(const struct subject *subject)
{
    const struct answer *answer = &subject->answer;
    const reach_path *path = &answer->path;

    fputs("    ", stdout);
    if (answer->state == STATUS_UNKNOWN) {
        fputs("It cannot be told whether ", stdout);
        print_label(subject, "the internet");
        printf(" can be reached: %s.\n", reason_text(answer));
        return;
    }
    print_label(subject, "The internet");
    if (answer->state == STATUS_OFFLINE) {
        printf(" cannot be reached: %s", reason_text(answer));
        /* For a pair whose local address is not ours, the link that would be used explains nothing. */
        if (*path->interface_name != '\0' && path->reason != REACH_REASON_NOT_LOCAL) {
            fputs(" (", stdout);
            text_print(stdout, path->interface_name);
            putchar(')');
        }
        fputs(".\n", stdout);
        return;
    }
    fputs(" can be reached", stdout);
    if (path->reason != REACH_REASON_REACHABLE)
        printf(", as far as is known (%s)", reason_text(answer));
    if ((path->flags & REACH_FLAG_IS_LOCAL_ADDRESS) != 0) {
        fputs(": the address is this machine's own.\n", stdout);
        return;
    }
    if (*path->interface_name != '\0') {
        fputs((path->flags & REACH_FLAG_IS_DIRECT) != 0 ? " directly on " : " through ", stdout);
        text_print(stdout, path->interface_name);
        printf(" (%s)", reach_link_text(path->interface_kind));
    }
    if (*path->gateway != '\0')
        printf(", by the gateway %s", path->gateway);
    if (*path->source != '\0')
        printf(", from %s", path->source);
    fputs(".\n", stdout);
}

static void print_detail(const char *title, const char *text)
{
    printf("    %-12s ", title);
    text_print(stdout, *text != '\0' ? text : "none");
    putchar('\n');
}

static void print_explanation(const struct subject *subject)
{
    const reach_path *path = &subject->answer.path;
    char flags[256];

    print_sentence(subject);
    if (subject->answer.error != 0)
        return;
    if (path->interface_index != 0) {
        printf("    %-12s ", "interface");
        text_print(stdout, path->interface_name);
        printf(", %s, index %" PRIu32 "\n", reach_link_text(path->interface_kind), path->interface_index);
    } else {
        print_detail("interface", "");
    }
    print_detail("gateway", path->gateway);
    print_detail("source", path->source);
    print_detail(subject->name == NULL ? "probe" : "destination", path->destination);
    print_detail("IPv4", path->ipv4_usable != 0 ? "usable" : "not usable");
    print_detail("IPv6", path->ipv6_usable != 0 ? "usable" : "not usable");
    reach_flags_describe(path->flags, flags, sizeof flags);
    printf("    %-12s 0x%08" PRIx32 " %s\n", "flags", path->flags, flags);
}

/* ------------------------------------------------------------------------------------------------------- JSON --- */

static void json_text(const char *key, const char *text)
{
    printf(",\"%s\":", key);
    text_print_json(stdout, text != NULL && *text != '\0' ? text : NULL);
}

static void json_number(const char *key, uint64_t number, bool is_known)
{
    if (is_known)
        printf(",\"%s\":%" PRIu64, key, number);
    else
        printf(",\"%s\":null", key);
}

static void json_bool(const char *key, bool value, bool is_known)
{
    printf(",\"%s\":%s", key, !is_known ? "null" : value ? "true" : "false");
}

/* Every object has the same keys, so that a reader need not ask which are there; what is not known is null. */
static void print_json(const struct subject *subject, const struct answer *before)
{
    const struct answer *answer = &subject->answer;
    const reach_path *path = &answer->path;
    const bool asked = answer->error == 0;
    char text[256];

    format_time(text, sizeof text, 'T');
    printf("{\"time\":\"%s\"", text);
    json_text("event", before != NULL ? "change" : "answer");
    json_text("target", subject->name);
    json_text("local", subject->local);
    json_text("state", state_text(answer->state));
    json_text("previous", before != NULL ? state_text(before->state) : NULL);
    json_bool("online", answer->state == STATUS_ONLINE, answer->state != STATUS_UNKNOWN);
    json_text("reason", asked ? reason_token(path->reason) : "error");
    json_text("reason_text", reason_text(answer));
    json_number("errno", (uint64_t)answer->error, !asked);
    reach_flags_describe(path->flags, text, sizeof text);
    json_number("flags", path->flags, asked);
    json_text("flags_text", asked ? text : NULL);
    json_text("interface", path->interface_name);
    json_number("interface_index", path->interface_index, path->interface_index != 0);
    json_text("interface_kind", path->interface_index != 0 ? kind_token(path->interface_kind) : NULL);
    json_text("gateway", path->gateway);
    json_text("source", path->source);
    json_text("destination", path->destination);
    json_bool("ipv4", path->ipv4_usable != 0, asked);
    json_bool("ipv6", path->ipv6_usable != 0, asked);
    json_number("generation", path->generation, asked);
    fputs("}\n", stdout);
}

enum report_result report(const struct subject *subject, const struct answer *before, const struct options *options)
{
    char time_text[64];

    if (options->quiet)
        return REPORT_WRITTEN;
    if (options->json) {
        print_json(subject, before);
    } else {
        if (options->watch) {
            format_time(time_text, sizeof time_text, ' ');
            printf("%s ", time_text);
        }
        print_line(subject, before);
        if (options->explain)
            print_explanation(subject);
    }
    /* At once, also into a pipe: a line that waits in a buffer is a change nobody hears of. */
    if (fflush(stdout) == 0 && !ferror(stdout))
        return REPORT_WRITTEN;
    return errno == EPIPE ? REPORT_UNREAD : REPORT_FAILED;
}
