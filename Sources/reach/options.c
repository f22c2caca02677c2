/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <reach.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_text[] =
    "Usage: reach [OPTION]... [HOST|ADDRESS]...\n"
    "       reach [OPTION]... --pair LOCAL REMOTE\n"
    "\n"
    "Says whether the internet, or each HOST or ADDRESS, can be reached, as the kernel sees it now. Nothing is sent\n"
    "to find out, but for looking names up.\n"
    "\n"
    "  -p, --pair             ask for the path between two addresses, LOCAL being this machine's\n"
    "  -n, --no-resolve       look no name up: a name is as reachable as the internet is\n"
    "\n"
    "  -w, --watch            go on, and tell of each change, until Ctrl-C\n"
    "      --wait[=SECONDS]   end as soon as all are online, or after SECONDS\n"
    "      --offline          wait for the opposite: until not all are online\n"
    "  -t, --timeout=SECONDS  take no longer than this; unless told otherwise, 10 seconds for names and no limit\n"
    "                         for --wait and --watch\n"
    "\n"
    "  -e, --explain          add the reason in a sentence, the interface, the gateway and the source address\n"
    "  -j, --json             print one JSON object a line\n"
    "  -q, --quiet            print nothing; the exit status is the answer\n"
    "  -V, --version          print the version\n"
    "  -h, --help             print this\n"
    "\n"
    "Exit status: 0 online, 1 offline, 2 wrong use, 3 cannot tell. Of several, all must be online.\n";

enum { OPTION_WAIT = UCHAR_MAX + 1, OPTION_OFFLINE };

static const struct option long_options[] = {
    {"explain", no_argument, NULL, 'e'},
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, 'j'},
    {"no-resolve", no_argument, NULL, 'n'},
    {"offline", no_argument, NULL, OPTION_OFFLINE},
    {"pair", no_argument, NULL, 'p'},
    {"quiet", no_argument, NULL, 'q'},
    {"timeout", required_argument, NULL, 't'},
    {"version", no_argument, NULL, 'V'},
    {"wait", optional_argument, NULL, OPTION_WAIT},
    {"watch", no_argument, NULL, 'w'},
    {NULL, 0, NULL, 0},
};

void options_reject(const char *format, ...)
{
    va_list arguments;

    fputs("reach: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("\nTry 'reach --help'.\n", stderr);
    exit(STATUS_WRONG_USE);
}

/* What was asked for is printed and the program ended; a full disk or a closed output must not look like success. */
_Noreturn static void print_and_exit(const char *text)
{
    if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
        fprintf(stderr, "reach: cannot write: %s\n", strerror(errno));
        exit(STATUS_UNKNOWN);
    }
    exit(STATUS_ONLINE);
}

static int64_t read_seconds(const char *option, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    /* A day's worth of leading blanks, "nan" or "inf" would all be taken by strtod. */
    if (end == text || *end != '\0' || strspn(text, "0123456789.") != strlen(text))
        options_reject("%s takes a number of seconds, not '%s'", option, text);
    /* The longest time the library takes is an int of milliseconds, some 24 days. */
    if (seconds > INT_MAX / 1000)
        options_reject("%s takes at most %d seconds", option, INT_MAX / 1000);
    return (int64_t)(seconds * 1000 + 0.5);
}

static bool is_number(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789.")] == '\0' && strchr(text, '.') == strrchr(text, '.');
}

/* A URL, "host:port" or "[address]" would be looked up as it stands, not be found, and be reported as offline: a wrong
   answer to a wrong question. Other odd names are left to the resolver, since some networks have them; but none has
   names with colons, so that such a one is a mistyped address. */
static void check_operand(const char *operand)
{
    const char *colon = strchr(operand, ':');

    if (*operand == '\0')
        options_reject("a host or address cannot be empty");
    if (reach_name_is_valid(operand))
        return;
    if (strchr(operand, '/') != NULL)
        options_reject("'%s' is neither a host name nor an address: give the host alone", operand);
    if (*operand == '[')
        options_reject("'%s' is neither a host name nor an address: give the address without brackets or port",
                       operand);
    if (colon != NULL && colon == strrchr(operand, ':'))
        options_reject("'%s' is neither a host name nor an address: give the host without the port", operand);
    /* Of a link, any name is asked about, however odd. */
    if (colon != NULL && strchr(operand, '%') == NULL)
        options_reject("'%s' is neither a host name nor an address", operand);
}

static void check(const struct options *options, bool wait_has_value)
{
    if (options->watch && options->wait)
        options_reject("--watch goes on, and %s ends: choose one",
                       options->wanted == STATUS_OFFLINE ? "--offline" : "--wait");
    if (options->watch && options->quiet)
        options_reject("--watch prints, and --quiet does not: choose one");
    if (options->pair && options->operand_count != 2)
        options_reject("--pair takes two addresses, LOCAL and REMOTE");
    for (int i = 0; i < options->operand_count; i++) {
        /* "--wait 30" reads well and would ask for the address 0.0.0.30. */
        if (options->wait && !wait_has_value && is_number(options->operands[i]))
            options_reject("'%s' is taken as an address: for a time, write --wait=%s", options->operands[i],
                           options->operands[i]);
        check_operand(options->operands[i]);
    }
}

void options_read(struct options *options, int argc, char **argv)
{
    bool wait_has_value = false;
    int option;

    *options = (struct options){
        .resolve = true, .wanted = STATUS_ONLINE, .wait_ms = FOREVER, .timeout_ms = FOREVER};
    while ((option = getopt_long(argc, argv, "ehjnpqt:Vw", long_options, NULL)) != -1) {
        switch (option) {
        case 'e': options->explain = true; break;
        case 'h': print_and_exit(usage_text);
        case 'j': options->json = true; break;
        case 'n': options->resolve = false; break;
        case 'p': options->pair = true; break;
        case 'q': options->quiet = true; break;
        case 't': options->timeout_ms = read_seconds("--timeout", optarg); break;
        case 'V': {
            char text[128];
            snprintf(text, sizeof text, "reach %s (library %s)\n", REACH_VERSION_STRING, reach_version_string());
            print_and_exit(text);
        }
        case 'w': options->watch = true; break;
        case OPTION_WAIT:
            options->wait = true;
            if (optarg != NULL) {
                options->wait_ms = read_seconds("--wait", optarg);
                wait_has_value = true;
            }
            break;
        case OPTION_OFFLINE:
            options->wait = true;
            options->wanted = STATUS_OFFLINE;
            break;
        default:
            /* getopt_long has said what is wrong. */
            fputs("Try 'reach --help'.\n", stderr);
            exit(STATUS_WRONG_USE);
        }
    }
    options->operands = argv + optind;
    options->operand_count = argc - optind;
    check(options, wait_has_value);
}
