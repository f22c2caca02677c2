/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static FILE *results;

bool bench_quick(void)
{
    const char *text = getenv("BENCH_QUICK");
    return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}

bool bench_full(void)
{
    const char *text = getenv("BENCH_FULL");
    return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}

unsigned bench_rounds(unsigned normal, unsigned quick)
{
    return bench_quick() ? quick : normal;
}

int64_t bench_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

int64_t bench_cpu(pid_t process)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        bench_fail("no CPU clock of process %d", (int)process);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void bench_until(int64_t deadline)
{
    struct timespec time = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        continue;
}

void samples_add(struct samples *samples, double value)
{
    if (samples->count == samples->room) {
        samples->room = samples->room == 0 ? 256 : samples->room * 2;
        samples->values = realloc(samples->values, samples->room * sizeof *samples->values);
        if (samples->values == NULL)
            bench_fail("no memory");
    }
    samples->values[samples->count++] = value;
}

void samples_free(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){0};
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double samples_quantile(const struct samples *samples, double share)
{
    if (samples->count == 0)
        return NAN;
    double *sorted = malloc(samples->count * sizeof *sorted);
    if (sorted == NULL)
        bench_fail("no memory");
    memcpy(sorted, samples->values, samples->count * sizeof *sorted);
    qsort(sorted, samples->count, sizeof *sorted, by_value);
    double place = share * (double)(samples->count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < samples->count ? below + 1 : below;
    double value = sorted[below] + (sorted[above] - sorted[below]) * (place - (double)below);
    free(sorted);
    return value;
}

/* Numbers that do not exist are empty fields. */
static void field(double value)
{
    if (isnan(value))
        fputc(',', results);
    else
        fprintf(results, ",%.9g", value);
}

void bench_report(const char *row, const char *candidate, const char *measure, const char *unit,
                  const struct samples *samples, const char *reference_name, const struct samples *reference)
{
    double ratio = NAN;
    if (reference != NULL && reference->count == samples->count && samples->count > 1) {
        struct samples ratios = {0};
        for (size_t i = 0; i < samples->count; i++)
            if (reference->values[i] > 0)
                samples_add(&ratios, samples->values[i] / reference->values[i]);
        ratio = samples_quantile(&ratios, 0.5);
        samples_free(&ratios);
    } else if (reference != NULL) {
        ratio = samples_quantile(samples, 0.5) / samples_quantile(reference, 0.5);
    }
    fprintf(results, "%s,\"%s\",\"%s\",%s", row, candidate, measure, unit);
    field(samples_quantile(samples, 0.5));
    field(samples_quantile(samples, 0.25));
    field(samples_quantile(samples, 0.75));
    field(samples_quantile(samples, 0.99));
    fprintf(results, ",%zu", samples->count);
    field(ratio);
    fprintf(results, ",\"%s\"\n", reference_name == NULL ? "" : reference_name);
    fflush(results);
}

void bench_report_one(const char *row, const char *candidate, const char *measure, const char *unit, double value,
                      const char *reference_name, double reference)
{
    double values[2] = {value, reference};
    struct samples one = {.values = &values[0], .count = 1};
    struct samples other = {.values = &values[1], .count = 1};
    bench_report(row, candidate, measure, unit, &one, reference_name, reference_name == NULL ? NULL : &other);
}

void bench_note(const char *row, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* A remark is a quoted field, in which the only special character is the quote itself. */
    for (char *c = text; *c != '\0'; c++)
        if (*c == '"' || *c == '\n')
            *c = '\'';
    fprintf(results, "%s,,note,\"%s\",,,,,,,\n", row, text);
    fflush(results);
    bench_say("    %s", text);
}

void bench_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void bench_results(const char *path)
{
    results = fopen(path, "ae");
    if (results == NULL)
        bench_fail("%s: %s", path, strerror(errno));
}

static double lane_run(struct lane *lane, unsigned repeats)
{
    int64_t begin = bench_now();
    for (unsigned i = 0; i < repeats; i++)
        lane->operation(lane->context);
    return (double)(bench_now() - begin) / repeats;
}

void bench_lanes(struct lane *lanes, size_t count, unsigned rounds, int64_t nanoseconds_per_round)
{
    for (size_t i = 0; i < count; i++) {
        /* The first calls pay for what is only paid once, so the price per call is taken from later ones. */
        lane_run(&lanes[i], 64);
        double price = lane_run(&lanes[i], 256);
        double repeats = (double)nanoseconds_per_round / price;
        lanes[i].repeats = repeats < 8 ? 8 : (unsigned)repeats;
    }
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            /* Another beginning and another direction in each round: no lane always follows the same neighbour. */
            size_t step = round % 2 == 0 ? i : count - 1 - i;
            struct lane *lane = &lanes[(step + round / 2) % count];
            samples_add(&lane->nanoseconds, lane_run(lane, lane->repeats));
        }
}

static long number_after(const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    char line[256];
    long number = -1;
    size_t length = strlen(key);
    if (file == NULL)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            number = strtol(line + length + 1, NULL, 10);
    fclose(file);
    return number;
}

long bench_memory(pid_t process, const char *key)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, strncmp(key, "Vm", 2) == 0 ? "status" : "smaps_rollup");
    return number_after(path, key);
}

long bench_switches(pid_t process)
{
    char path[320];
    long switches = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    DIR *folder = opendir(path);
    if (folder == NULL)
        bench_fail("%s: %s", path, strerror(errno));
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/status", (int)process, entry->d_name);
        long voluntary = number_after(path, "voluntary_ctxt_switches");
        long forced = number_after(path, "nonvoluntary_ctxt_switches");
        switches += (voluntary > 0 ? voluntary : 0) + (forced > 0 ? forced : 0);
    }
    closedir(folder);
    return switches;
}

long bench_entries(pid_t process, const char *name)
{
    char path[64];
    long entries = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        entries += entry->d_name[0] != '.';
    closedir(folder);
    return entries;
}
