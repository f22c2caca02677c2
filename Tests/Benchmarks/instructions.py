# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Counts the instructions of the hot paths under callgrind and compares them with the stored counts.

Instructions of the process are counted, not those of the kernel, and only from the entry into the library to its
return. The counts do not depend on how busy the machine is. They do depend on the compiler, on libc and on the
processor family (libc picks its string functions by it), so these are stored with them.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

# A path, the library's function in which its instructions are counted, and how often it is gone in the shorter run.
PATHS = [
    ("flags-unchanged", "reach_get_flags", 2000, "get_flags when nothing changed"),
    ("flags-after-change", "reach_get_flags", 200, "get_flags right after a change"),
    ("change-to-callback", "reach_queue_dispatch", 100, "from a change to the callback"),
    ("unrelated-message", "reach_queue_dispatch", 1000, "a route message that matters to nobody"),
    ("link-message", "reach_queue_dispatch", 100, "a link message that changes no answer"),
]

# More instructions than this share above the stored count is a failure. What is left of chance (addresses that decide
# about alignment, a clock that is read once more) stays well below it.
TOLERANCE = 0.03


def count(program: str, path: str, function: str, times: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out")
        command = [
            "unshare", "-Urn", "valgrind", "--tool=callgrind", "--quiet", f"--callgrind-out-file={output}",
            f"--toggle-collect={function}*", program, path, str(times),
        ]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
        with open(output, encoding="utf-8", errors="replace") as text:
            total = re.search(r"^(?:totals|summary): (\d+)", text.read(), re.MULTILINE)
        if total is None:
            sys.exit(f"callgrind wrote no total for {path}")
        return int(total.group(1))


def measure(program: str) -> dict[str, int]:
    counts = {}
    for path, function, times, _ in PATHS:
        once, twice = (count(program, path, function, times * factor) for factor in (1, 2))
        counts[path] = round((twice - once) / times)
        if counts[path] <= 0:
            sys.exit(f"no instructions of {function} were counted for {path}")
    return counts


def first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return "none"
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return text.splitlines()[0].strip() if text else "none"


def tools() -> dict[str, str]:
    swift = re.search(r"Swift version (\S+)", first_line("swiftc", "--version"))
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        vendor = re.search(r"^vendor_id\s*: (\S+)", text.read(), re.MULTILINE)
    return {
        "swift": swift.group(1) if swift else "none",
        "libc": first_line("ldd", "--version").split()[-1],
        "valgrind": first_line("valgrind", "--version"),
        "processor": f"{os.uname().machine} {vendor.group(1) if vendor else ''}".strip(),
    }


def read(path: str) -> tuple[dict[str, str], dict[str, int]]:
    made_with, counts = {}, {}
    with open(path, encoding="utf-8", newline="") as lines:
        for kind, name, value in csv.reader(line for line in lines if not line.startswith("#")):
            if kind == "tool":
                made_with[name] = value
            elif kind == "instructions":
                counts[name] = int(value)
    return made_with, counts


def write(path: str, counts: dict[str, int]) -> None:
    with open(path, "w", encoding="utf-8") as output:
        output.write("# SPDX-FileCopyrightText: The libreach authors\n# SPDX-License-Identifier: MIT\n#\n")
        output.write("# Instructions of the hot paths, for make bench to compare; written by make bench-baseline.\n")
        for name, value in tools().items():
            output.write(f"tool,{name},{value}\n")
        for name, value in counts.items():
            output.write(f"instructions,{name},{value}\n")


def compare(arguments: argparse.Namespace) -> int:
    made_with, stored = read(arguments.baseline)
    counts = measure(arguments.program)
    write(arguments.results, counts)
    print(f"\nInstructions of the hot paths (callgrind; fails above {TOLERANCE:.0%} more than stored)\n")
    print(f"  {'':<40} {'stored':>8} {'now':>8} {'change':>8}")
    failed = False
    for path, _, _, title in PATHS:
        if path not in stored:
            sys.exit(f"no count of {path} is stored: run make bench-baseline")
        change = counts[path] / stored[path] - 1
        failed = failed or change > TOLERANCE
        verdict = "  MORE" if change > TOLERANCE else "  less: make bench-baseline" if change < -TOLERANCE else ""
        print(f"  {title:<40} {stored[path]:>8} {counts[path]:>8} {change:>+8.1%}{verdict}")
    for name, value in tools().items():
        if made_with.get(name) != value:
            print(f"  The stored counts were made with {name} {made_with.get(name)}, these with {value}.")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["compare", "store"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--results")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is missing: the instruction counts are left out (make bench-deps installs it)")
        return 0 if arguments.action == "compare" else 1
    if arguments.action == "store":
        counts = measure(arguments.program)
        write(arguments.baseline, counts)
        for name, value in counts.items():
            print(f"  {name:<24} {value:>8}")
        return 0
    return compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
