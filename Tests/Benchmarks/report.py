# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Makes tables of the figures that the benchmarks wrote, and says which goals were reached."""

import argparse
import csv
import math
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

# Rows in the order of the report; "lines" have a line for each candidate, "columns" one for each measure.
ROWS = [
    ("check", "A check when nothing changed", "lines"),
    ("after-change", "A check right after a change of the default route", "lines"),
    ("latency", "From a change of the default route to the callback", "lines"),
    ("storm-paced", "200,000 route messages that do not matter, 40,000 a second", "columns"),
    ("storm-unpaced", "200,000 route messages that do not matter, as fast as they come", "columns"),
    ("start", "A new process: from nothing to the first answer, with no routes and with 1,000,000", "lines"),
    ("targets", "Many targets on one queue: a change for all, a message for none", "lines"),
    ("footprint", "What it costs to load, to ask and to watch", "columns"),
    ("idle", "Watching while nothing happens (libreach: 100 targets)", "lines"),
]

BYTES = 128 * 1024


@dataclass
class Figure:
    median: float
    p99: float
    samples: int
    unit: str
    ratio: float
    reference: str


Figures = dict[str, dict[tuple[str, str], Figure]]


def number(text: str) -> float:
    return float(text) if text else math.nan


def read(path: str) -> tuple[Figures, dict[str, list[str]]]:
    figures: Figures = {}
    notes: dict[str, list[str]] = {}
    with open(path, encoding="utf-8", newline="") as lines:
        for row, candidate, measure, unit, median, _, _, p99, samples, ratio, reference in csv.reader(lines):
            if measure == "note":
                notes.setdefault(row, []).append(unit)
                continue
            figures.setdefault(row, {})[candidate, measure] = Figure(
                number(median), number(p99), int(samples), unit, number(ratio), reference)
    return figures, notes


def shown(value: float, unit: str) -> str:
    if math.isnan(value):
        return ""
    if unit == "ns":
        for limit, divisor, name in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms"), (math.inf, 1e9, "s")):
            if abs(value) < limit:
                scaled = value / divisor
                return f"{scaled:.3g} {name}" if scaled < 100 else f"{scaled:.0f} {name}"
    if unit == "B":
        return f"{value / 1024:.0f} KiB" if value < 1 << 20 else f"{value / (1 << 20):.1f} MiB"
    if unit == "KiB":
        return f"{value:.0f} KiB" if value < 10240 else f"{value / 1024:.0f} MiB"
    return f"{value:,.0f}"


def compared(value: float, limit: float, unit: str) -> tuple[str, str]:
    """Both as text, with as many digits as it takes to see that the one is over the other."""
    got, wanted = (f"{x:.2f}" if unit == "ratio" else shown(x, unit) for x in (value, limit))
    if value <= limit or got != wanted:
        return got, wanted
    for digits in range(3, 16):
        got, wanted = (f"{x:,.{digits}f}" for x in (value, limit))
        if got != wanted:
            break
    name = "" if unit in ("ratio", "") else f" {unit}"
    return f"{got}{name}", f"{wanted}{name}"


def ratio(figure: Figure) -> str:
    if math.isnan(figure.ratio):
        return ""
    return f"{figure.ratio:.2f}" if figure.ratio < 100 else f"{figure.ratio:,.0f}"


def grid(lines: list[list[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    out = []
    for line in lines:
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        out.append(("  " + "  ".join(cells)).rstrip())
    out.insert(1, "  " + "  ".join("-" * width for width in widths))
    return out


def table(row: dict[tuple[str, str], Figure], shape: str) -> list[str]:
    candidates = list(dict.fromkeys(candidate for candidate, _ in row))
    measures = list(dict.fromkeys(measure for _, measure in row))
    if shape == "lines":
        lines = [[""]]
        for measure in measures:
            references = {f.reference for (_, m), f in row.items() if m == measure and not math.isnan(f.ratio)}
            lines[0].append(measure)
            if references:
                lines[0].append(f"to {references.pop()}" if len(references) == 1 else "ratio")
        for candidate in candidates:
            line = [candidate]
            for measure in measures:
                figure = row.get((candidate, measure))
                line.append(shown(figure.median, figure.unit) if figure else "")
                if any(m == measure and not math.isnan(f.ratio) for (_, m), f in row.items()):
                    line.append(ratio(figure) if figure else "")
            lines.append(line)
        return grid(lines)
    lines = [[""] + candidates]
    for measure in measures:
        line = [measure]
        for candidate in candidates:
            figure = row.get((candidate, measure))
            text = shown(figure.median, figure.unit) if figure else ""
            if figure and figure.reference and figure.reference != candidate and ratio(figure):
                text += f" ({ratio(figure)}x)"
            line.append(text)
        lines.append(line)
    return grid(lines)


class Goals:
    """What the project wants to reach, each as one line that says by how much."""

    def __init__(self, figures: Figures):
        self.figures = figures
        self.lines: list[tuple[str, str]] = []

    def figure(self, row: str, candidate: str, measure: str) -> Figure | None:
        return self.figures.get(row, {}).get((candidate, measure))

    def goal(self, text: str, value: float, limit: float, unit: str) -> None:
        if math.isnan(value):
            return
        got, wanted = compared(value, limit, unit)
        self.lines.append(("reached" if value <= limit else "MISSED", f"{text}: {got}, at most {wanted}"))

    def ratio(self, text: str, row: str, candidate: str, measure: str, limit: float) -> None:
        figure = self.figure(row, candidate, measure)
        if figure:
            self.goal(text, figure.ratio, limit, "ratio")

    def value(self, text: str, row: str, candidate: str, measure: str, limit: float) -> None:
        figure = self.figure(row, candidate, measure)
        if figure:
            self.goal(text, figure.median, limit, figure.unit)

    def below(self, text: str, row: str, candidate: str, measure: str, peers: list[str]) -> None:
        own = self.figure(row, candidate, measure)
        for peer in peers:
            other = self.figure(row, peer, measure)
            if own and other:
                self.goal(f"{text}, beside {peer}", own.median, other.median, own.unit)

    def all(self) -> list[tuple[str, str]]:
        for name in ("get_flags of 0.0.0.0", "get_flags of an address"):
            self.ratio(f"{name}, nothing changed, to one receive", "check", f"libreach, {name}", "time", 1.15)
            self.ratio(f"{name}, right after a change, to what it needs", "after-change", f"libreach, {name}", "time",
                       1.3)
        for name in ("libreach, 0.0.0.0", "libreach, an address"):
            for measure in ("p50", "p99"):
                self.ratio(f"change to callback, {name}, {measure}, to a raw receive and one look-up", "latency", name,
                           measure, 1.5)
                self.below(f"change to callback, {name}, {measure}", "latency", name, measure, ["libnl", "GLib", "Qt"])
        self.value("paced storm, CPU", "storm-paced", "libreach", "cpu", 0.01e9)
        self.value("paced storm, context switches", "storm-paced", "libreach", "context switches", 0)
        self.value("paced storm, needless callbacks", "storm-paced", "libreach", "needless reports", 0)
        self.value("unpaced storm, CPU", "storm-unpaced", "libreach", "cpu", 0.05e9)
        self.value("unpaced storm, wrong at the end", "storm-unpaced", "libreach", "wrong at the end", 0)
        self.value("first answer with many routes", "start", "libreach", "many routes", 0.3e6)
        few, many = (self.figure("start", "libreach", f"memory, {which} routes") for which in ("no", "many"))
        if few and many:
            # The kernel counts pages of a young process in lots, so single figures differ by some of them.
            self.goal("its memory, beyond that with no routes", many.median - few.median, 128, "KiB")
        self.ratio("one flip for 10,000 targets, to the look-ups by hand", "targets", "libreach, 10000 targets",
                   "one flip", 1.3)
        self.ratio("one unrelated message, 10,000 targets to 100", "targets", "libreach, 10000 targets",
                   "one unrelated message", 1.3)
        self.value("size of the library", "footprint", "libreach", "size of what is loaded", BYTES)
        self.value("idle, context switches", "idle", "libreach", "context switches", 0)
        return self.lines


def print_table(arguments: argparse.Namespace) -> None:
    figures, notes = read(arguments.results)
    with open(arguments.system, encoding="utf-8") as system:
        print("\n" + system.read().rstrip())
    if os.environ.get("BENCH_QUICK", "0") not in ("", "0"):
        print("\nA quick run: few rounds, and figures to match.")
    for note in notes.get("peers", []):
        print(f"\n{note}")
    for row, title, shape in ROWS:
        related = [note for key in notes for note in notes[key] if key == row or row.startswith(f"{key}-")]
        if row not in figures and not related:
            continue
        print(f"\n{title}\n")
        if row in figures:
            print("\n".join(table(figures[row], shape)))
        for note in related:
            print(f"  {note}")
    print("\nGoals\n")
    for verdict, text in Goals(figures).all():
        print(f"  {verdict:<8} {text}")


def output(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def print_system(arguments: argparse.Namespace) -> None:
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        model = re.search(r"^model name\s*: (.*)", text.read(), re.MULTILINE)
    processor = model.group(1) if model else platform.machine()
    print(f"Machine    {processor}, {len(os.sched_getaffinity(0))} processors, Linux {platform.release()}")
    versions = []
    for name, package in (("GLib", "gio-2.0"), ("libnl", "libnl-route-3.0"), ("Qt", "Qt6Network")):
        version = output("pkg-config", "--modversion", package)
        if version:
            versions.append(f"{name} {version}")
    print(f"Peers      {', '.join(versions) or 'none'}")
    swift = re.search(r"Swift version (\S+)", output("swiftc", "--version"))
    libc = platform.libc_ver()
    print(f"Tools      Swift {swift.group(1) if swift else 'unknown'}, {libc[0]} {libc[1]}")
    commit = output("git", "describe", "--always", "--dirty")
    size = os.path.getsize(os.path.join(arguments.build, "libreach.so.1"))
    print(f"libreach   {size:,} bytes{', ' + commit if commit else ''}")


def main() -> int:
    parser = argparse.ArgumentParser()
    actions = parser.add_subparsers(required=True)
    action = actions.add_parser("table")
    action.add_argument("--system", required=True)
    action.add_argument("results")
    action.set_defaults(run=print_table)
    action = actions.add_parser("system")
    action.add_argument("--build", required=True)
    action.set_defaults(run=print_system)
    arguments = parser.parse_args()
    arguments.run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
