/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * What every row of the benchmarks uses: clocks, samples, and the lines of the result file.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Samples of one measure of one candidate, in the order in which they were taken. */
struct samples {
    double *values;
    size_t count;
    size_t room;
};

/* True when BENCH_QUICK is set: the same rows with fewer rounds, to see that everything works. */
bool bench_quick(void);
/* True when BENCH_FULL is set: slow peers are waited for instead of being stopped after some seconds. */
bool bench_full(void);
/* Picks the number of rounds, by bench_quick. */
unsigned bench_rounds(unsigned normal, unsigned quick);

/* Nanoseconds of the monotonic clock. */
int64_t bench_now(void);
/* Nanoseconds of CPU that a process used up, all threads, user and kernel; 0 is the calling process. */
int64_t bench_cpu(pid_t process);
/* Waits until the monotonic clock shows this time. For pacing only: never to wait for something to have happened. */
void bench_until(int64_t deadline);

void samples_add(struct samples *samples, double value);
void samples_free(struct samples *samples);
/* The value below which this share of the samples lies, 0.5 for the median. */
double samples_quantile(const struct samples *samples, double share);

/*
 * Writes one line of the result file.
 *
 * The ratio is to the median of reference. When both have the same number of samples they were taken in the same
 * rounds, one beside the other, and then the ratio is the median of the ratios of the rounds: noise that lasts for
 * longer than a round hits both sides of it and cancels.
 */
void bench_report(const char *row, const char *candidate, const char *measure, const char *unit,
                  const struct samples *samples, const char *reference_name, const struct samples *reference);
/* The same for a single figure; reference may be NAN. */
void bench_report_one(const char *row, const char *candidate, const char *measure, const char *unit, double value,
                      const char *reference_name, double reference);
/* A remark that belongs in the report, such as a peer that is missing. */
void bench_note(const char *row, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Progress for the person at the terminal. */
void bench_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the benchmark with a message: a figure measured on a broken set-up is worse than none. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens the result file; later processes append to it. */
void bench_results(const char *path);

/* One candidate in a comparison of small operations on this thread. */
struct lane {
    const char *name;
    void (*operation)(void *context);
    void *context;
    struct samples nanoseconds;
    unsigned repeats;
};

/* Runs all lanes in every round, in a different order each time, and collects nanoseconds per operation. */
void bench_lanes(struct lane *lanes, size_t count, unsigned rounds, int64_t nanoseconds_per_round);

/* Memory of a process in KiB, from /proc: key is VmRSS or VmHWM, or a key of smaps_rollup such as Private_Dirty. */
long bench_memory(pid_t process, const char *key);
/* Context switches of all threads of a process so far, voluntary and not. */
long bench_switches(pid_t process);
/* Entries in a folder of /proc/PROCESS, "fd" or "task". */
long bench_entries(pid_t process, const char *folder);

/* The rows. Each runs in a network namespace of its own. */
void row_check(void);
void row_after_change(void);
void row_latency(void);
void row_storm(void);
void row_many_targets(void);
void row_footprint(void);
void row_idle(void);
void row_start(void);

/* The peers that could be built and loaded; path is that of the peer's shared object. */
struct peer_file {
    const char *name;
    char path[512];
};
extern struct peer_file bench_peers[16];
extern size_t bench_peer_count;
/* The path of a peer by name, or NULL. */
const char *bench_peer_path(const char *name);
/* The folder in which the programs and peers of the benchmarks stand. */
extern char bench_folder[512];

#endif
