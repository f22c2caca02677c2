/* SPDX-FileCopyrightText: The libreach authors
 * SPDX-License-Identifier: MIT
 *
 * The benchmark's side of agents; see agent-main.c for the other.
 */
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

static int milliseconds_until(int64_t deadline)
{
    int64_t left = (deadline - bench_now() + 999999) / 1000000;
    return left < 0 ? 0 : (int)left;
}

/* Waits for the agent's next event; false when the deadline passes or the agent ends. */
static bool next_event(struct agent *agent, int64_t deadline)
{
    struct pollfd event = {.fd = agent->event, .events = POLLIN};
    uint64_t count;
    int ready;
    do
        ready = poll(&event, 1, milliseconds_until(deadline));
    while (ready < 0 && errno == EINTR);
    return ready > 0 && read(agent->event, &count, sizeof count) == (ssize_t)sizeof count;
}

bool agent_start(struct agent *agent, const char *path, unsigned targets, int deadline_ms)
{
    char program[600];
    char numbers[4][16];
    int ends[2];
    int memory = memfd_create("board", 0);
    agent->event = eventfd(0, 0);
    if (memory < 0 || ftruncate(memory, sizeof *agent->board) != 0 || agent->event < 0 || pipe(ends) != 0)
        bench_fail("an agent's descriptors: %s", strerror(errno));
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    agent->stop = ends[1];
    agent->board = mmap(NULL, sizeof *agent->board, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (agent->board == MAP_FAILED)
        bench_fail("an agent's memory: %s", strerror(errno));
    agent->board->online = -1;
    snprintf(program, sizeof program, "%s/bench-agent", bench_folder);
    snprintf(numbers[0], sizeof numbers[0], "%u", targets);
    snprintf(numbers[1], sizeof numbers[1], "%d", memory);
    snprintf(numbers[2], sizeof numbers[2], "%d", agent->event);
    snprintf(numbers[3], sizeof numbers[3], "%d", ends[0]);
    char *arguments[] = {program,    (char *)(uintptr_t)path, "watch", numbers[0], numbers[1],
                         numbers[2], numbers[3],              NULL};
    int error = posix_spawn(&agent->process, program, NULL, NULL, arguments, environ);
    if (error != 0)
        bench_fail("%s: %s", program, strerror(error));
    close(memory);
    close(ends[0]);
    next_event(agent, bench_now() + (int64_t)deadline_ms * 1000000);
    if (agent->board->ready && !agent->board->failed)
        return true;
    kill(agent->process, SIGKILL);
    agent_stop(agent);
    return false;
}

void agent_arm(struct agent *agent, uint64_t number)
{
    atomic_store(&agent->board->armed, number);
}

bool agent_wait(struct agent *agent, uint64_t number, int deadline_ms)
{
    int64_t deadline = bench_now() + (int64_t)deadline_ms * 1000000;
    while (atomic_load(&agent->board->seen[agent->stages - 1]) != number)
        if (!next_event(agent, deadline))
            return false;
    return true;
}

uint64_t agent_stop(struct agent *agent)
{
    int status;
    close(agent->stop);
    while (waitpid(agent->process, &status, 0) < 0 && errno == EINTR)
        continue;
    uint64_t overflows = agent->board->overflows;
    close(agent->event);
    munmap(agent->board, sizeof *agent->board);
    return overflows;
}

bool agent_print(const char *path, const char *mode, int deadline_ms, void (*take)(void *, const char *, double),
                 void *context)
{
    char program[600];
    int ends[2];
    pid_t process;
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0)
        bench_fail("pipe: %s", strerror(errno));
    snprintf(program, sizeof program, "%s/bench-agent", bench_folder);
    char *arguments[] = {program, (char *)(uintptr_t)path, (char *)(uintptr_t)mode, NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int error = posix_spawn(&process, program, &actions, NULL, arguments, environ);
    if (error != 0)
        bench_fail("%s: %s", program, strerror(error));
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);

    /* The agent prints when it is done, so the first byte or the end is what the deadline is for. */
    struct pollfd output = {.fd = ends[0], .events = POLLIN};
    int ready = poll(&output, 1, deadline_ms);
    if (ready <= 0)
        kill(process, SIGKILL);
    FILE *lines = fdopen(ends[0], "r");
    char key[64];
    double value;
    while (lines != NULL && ready > 0 && fscanf(lines, "%63s %lf", key, &value) == 2)
        take(context, key, value);
    if (lines != NULL)
        fclose(lines);
    int status;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    return ready > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
