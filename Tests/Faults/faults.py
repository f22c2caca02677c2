#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Runs the driver with one fault after the other, and with many at random, and writes down what came of it.

usage: faults.py SHIM DRIVER LIBRARY [--all] [--random N] [--seed S] [--table FILE]

Each scenario of the driver is run once without faults, to learn how often it calls each libc function; then once for
each fault of a function it calls: at the first calls and at the last one (at every call with --all), and for as long as
the scenario's fault phase goes on. To see one case again, use the command that is printed with a failure; with
FAULTS_TRACE=1 in the environment, a random run tells of each fault; with FAULTS_ONLY="write send" it has no others.

Every function that the library imports must either be one that the shim can make fail, or stand in CANNOT_FAIL below.
"""

import argparse
import collections
import concurrent.futures
import ctypes
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile

FOR_EVER = 0xFFFFFFFF
# Functions that give no error, or whose error would be a mistake in how they are called: they have nothing to inject.
# (POSIX lets a mutex or condition of default kind run out of memory when it is made; in glibc and musl it is a few
# words that are written. The shim sees to it that write is for eventfds only. readlink is for a link that realpath
# cannot follow, and then no answer is as good as none to be had. qsort sorts in place when it gets no memory.)
CANNOT_FAIL = set("""
    _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __errno_location __gmon_start__
    __libc_start_main __stack_chk_fail abort arc4random_buf clock_gettime explicit_bzero free freeaddrinfo geteuid
    getpid htonl htons if_indextoname inet_aton inet_ntop inet_pton memchr memcmp memcpy memmove memset munmap ntohl
    ntohs pthread_attr_destroy pthread_attr_getstacksize pthread_attr_setdetachstate pthread_cond_broadcast
    pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_wait pthread_equal
    pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock
    pthread_self pthread_sigmask qsort readlink sched_yield sigfillset strcmp strlen strncmp strnlen sysconf write
""".split())

NETWORK = """
ip link set lo up
ip link add wan0 type veth peer name far0
ip link set wan0 up
ip link set far0 up
ip address add 10.1.0.2/24 dev wan0
mount --make-rprivate /
printf '127.0.0.1 localhost\\n198.51.100.7 host.faults.example\\n' >"$1/hosts"
printf 'hosts: files\\n' >"$1/nsswitch.conf"
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf
echo ready
exec cat
"""


class Namespace:
    """A network of its own, kept by a process that ends with its input."""

    def __init__(self, folder):
        self.holder = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-e", "-c", NETWORK, "sh", folder],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            sys.exit("the network namespace cannot be made; run this through make, which starts it in a user namespace")

    def command(self, *words):
        return ["nsenter", f"--target={self.holder.pid}", "--net", "--mount", "--", *words]

    def end(self):
        self.holder.stdin.close()
        self.holder.wait()


class Faults:
    """The shim's table, read from the shim itself."""

    def __init__(self, shim):
        library = ctypes.CDLL(str(shim))
        for name in ("faults_function", "faults_outcome"):
            getattr(library, name).restype = ctypes.c_char_p
        library.faults_of_memory.restype = ctypes.c_bool
        library.faults_covers.restype = ctypes.c_bool
        self.rows = [(library.faults_function(i).decode(), library.faults_outcome(i).decode(),
                      library.faults_of_memory(i)) for i in range(library.faults_count())]
        self.covers = lambda name: library.faults_covers(name.encode())


def imports(library):
    text = subprocess.run(["nm", "-D", "--undefined-only", str(library)], check=True, capture_output=True, text=True)
    return sorted({line.split()[-1].split("@")[0] for line in text.stdout.splitlines()})


def tail(lines, shown):
    return "".join(f"\n    {line}" for line in [*lines[-5:], shown])


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.faults = Faults(arguments.shim)
        self.namespaces = queue.Queue()
        self.observed = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
        self.cases = collections.Counter()
        self.failures = []

    def drive(self, *words, seconds=60):
        """Runs the driver in a free namespace. Gives its status, its lines, and the command that does it again."""
        namespace = self.namespaces.get()
        try:
            environment = [f"LD_PRELOAD={self.arguments.shim}",
                           f"LD_LIBRARY_PATH={pathlib.Path(self.arguments.library).parent}"]
            shown = " ".join(["env", *environment, str(self.arguments.driver), *map(str, words)])
            try:
                done = subprocess.run(namespace.command("env", *environment, str(self.arguments.driver),
                                                        *map(str, words)),
                                      capture_output=True, text=True, timeout=seconds, errors="replace")
                return done.returncode, (done.stdout + done.stderr).splitlines(), shown
            except subprocess.TimeoutExpired as late:
                said = (late.stdout or b"").decode(errors="replace").splitlines()
                return None, said + [f"WRONG: not at its end after {seconds} s"], shown
        finally:
            self.namespaces.put(namespace)

    def fail(self, text):
        """Tells of a failure at once: others may take long."""
        self.failures.append(text)
        print("FAILED", text, flush=True)

    def count(self, scenario, fault):
        status, lines, shown = self.drive(scenario, "count", fault)
        if status != 0:
            self.fail(f"{scenario} fails without any fault:" + tail(lines, shown))
            return 0
        return next(int(line.split()[1]) for line in lines if line.startswith("calls: "))

    def case(self, scenario, fault, first, count):
        function, outcome, memory = self.faults.rows[fault]
        status, lines, shown = self.drive(scenario, fault, first, count)
        self.cases[function, outcome] += 1
        row = self.observed[function, outcome]
        fired = next((int(line.split()[1]) for line in lines if line.startswith("fired: ")), None)
        if status in (-signal.SIGILL, -signal.SIGTRAP, 128 + signal.SIGILL, 128 + signal.SIGTRAP) and memory:
            row["the process"]["ended with a trap, as documented"] += 1
            return
        if status != 0 or not lines or lines[-1] != "end":
            how = "did not end" if status is None else f"ended with {status}"
            if status is not None and status < 0:
                how = "was ended by " + signal.Signals(-status).name
            self.fail(f"{function}: {outcome}, call {first} and {'on' if count == FOR_EVER else count}, "
                                 f"{scenario}: {how}" + tail(lines, shown))
            row["the process"]["FAILED"] += 1
            return
        if fired:
            for line in lines:
                step, _, result = line.partition(": ")
                if step not in ("calls", "fired") and result:
                    row[step][result] += 1
        else:
            row["the process"]["did not come to the call"] += 1

    def random(self, seed):
        status, lines, shown = self.drive("random", seed, 120, 30 + 40 * (seed % 5))
        if status != 0 or not lines or lines[-1] != "end":
            how = f"was ended by {signal.Signals(-status).name}" if status is not None and status < 0 else "failed"
            self.fail(f"random faults, seed {seed}: {how}" + tail(lines, shown))
            return 0
        return int(lines[-2].split()[1])


def positions(calls, everywhere, outcome, scenario):
    if outcome.endswith("(sandbox)"):
        return [(0, FOR_EVER)] if scenario.endswith("-fresh") else []
    chosen = range(calls) if everywhere else {0, 1, 2, calls - 1}
    return [(first, 1) for first in sorted(chosen) if 0 <= first < calls] + [(0, FOR_EVER)]


# The columns of the table: which of the driver's steps they gather, and the words for what went well.
COLUMNS = [
    ("questions", ["asking", "asking for the path", "asking after a change", "asking on a schedule", "waiting",
                   "waiting for a change"], {"right": "right", "offline": "right", "online": "right"}),
    ("making, scheduling", ["making a queue", "scheduling", "asking for a confirmed answer", "making a monitor",
                            "making a target with a link's name", "dispatching"],
     {"made": "done", "scheduled": "done", "accepted": "done"}),
    ("changes", ["a change", "a status"], {"told at once": "told at once",
                                           "not told during the fault": "told when it is over"}),
]
# What each scenario that came to its end has shown.
ENDINGS = ["afterwards", "asking after the fault", "the confirmed answer"]


def cell(seen, steps, words):
    results = {words.get(result, result) for step in steps for result in seen.get(step, {})}
    return " or ".join(sorted(results, key=lambda text: (text.isupper(), text))) or "-"


def table(runner):
    """The observations as a Markdown table: a row for each fault, what was seen while it lasted, and what after it."""
    titles = ["function", "what happens to it", "cases", *(title for title, _, _ in COLUMNS), "after it"]
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    for function, outcome, _ in runner.faults.rows:
        if not runner.cases[function, outcome]:
            continue
        seen = runner.observed[function, outcome]
        process = [result for result in seen.get("the process", {}) if result != "did not come to the call"]
        after = process or (["all right, the next change told"] if any(ending in seen for ending in ENDINGS) else ["-"])
        cells = [cell(seen, steps, words) for _, steps, words in COLUMNS]
        lines.append(f"| `{function}` | {outcome} | {runner.cases[function, outcome]} | {' | '.join(cells)} | "
                     f"{' or '.join(sorted(after))} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shim", type=pathlib.Path)
    parser.add_argument("driver", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--random", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=".", help="an expression that FUNCTION:OUTCOME:SCENARIO must match")
    parser.add_argument("--table", type=pathlib.Path)
    arguments = parser.parse_args()
    for name in ("shim", "driver", "library"):
        setattr(arguments, name, getattr(arguments, name).resolve())

    runner = Runner(arguments)
    uncovered = [name for name in imports(arguments.library)
                 if not runner.faults.covers(name) and name not in CANNOT_FAIL]
    if uncovered:
        runner.fail(f"the library imports what no fault covers: {' '.join(uncovered)}")
    imported = {name for name in imports(arguments.library) if runner.faults.covers(name)}

    scenarios = subprocess.run([str(arguments.driver), "list"], check=True, capture_output=True, text=True,
                               env={**os.environ, "LD_PRELOAD": str(arguments.shim),
                                    "LD_LIBRARY_PATH": str(arguments.library.parent)}).stdout.split()
    # The cases wait more than they work.
    workers = 5 * (os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        for worker in range(workers):
            place = pathlib.Path(folder, str(worker))
            place.mkdir()
            runner.namespaces.put(Namespace(str(place)))
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            wanted = re.compile(arguments.only)
            first_of = {}
            for number, (function, _, _) in enumerate(runner.faults.rows):
                if function in imported:
                    first_of.setdefault(function, number)
            counts = {(scenario, function): pool.submit(runner.count, scenario, number)
                      for scenario in scenarios for function, number in first_of.items()
                      if any(wanted.search(f"{function}:{row[1]}:{scenario}") for row in runner.faults.rows
                             if row[0] == function)}
            cases = []
            for (scenario, function), counted in counts.items():
                for number, row in enumerate(runner.faults.rows):
                    if row[0] == function and wanted.search(f"{function}:{row[1]}:{scenario}") and counted.result():
                        cases += [pool.submit(runner.case, scenario, number, *position)
                                  for position in positions(counted.result(), arguments.all, row[1], scenario)]
            randoms = [pool.submit(runner.random, arguments.seed + number) for number in range(arguments.random)]
            for case in cases + randoms:
                case.result()
        while not runner.namespaces.empty():
            runner.namespaces.get().end()

    if arguments.table:
        arguments.table.parent.mkdir(parents=True, exist_ok=True)
        arguments.table.write_text(table(runner))
    fired = sum(case.result() for case in randoms)
    total = len(cases) + len(randoms)
    print(f"{len(runner.cases)} faults in {len(cases)} cases; {len(randoms)} random runs from seed {arguments.seed} "
          f"with {fired} faults")
    print(f"{max(0, total - len(runner.failures))} passed, {len(runner.failures)} failed")
    sys.exit(1 if runner.failures or not total else 0)


if __name__ == "__main__":
    main()
