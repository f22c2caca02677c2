# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""What the runners of the language and loop examples share: what is missing, building, running, and the table.

An example is built where nothing else is, out of the tree, by the command its own comment tells a reader to use, with
warnings as errors. Where libreach is, pkg-config and the loader are told by the environment, so that the same runner
tests the library that was just built and one that was installed.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
DRIVE = TOP / "Tests" / "FFI" / "drive.py"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# Programs in C and C++ are run twice, once with these, which also find what was not freed at the end.
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


class Missing(Exception):
    """Something is not installed: what, and the Debian package that brings it."""

    def __init__(self, what, package):
        super().__init__(what)
        self.package = package


class Failed(Exception):
    """A command failed: what it wrote."""


@dataclasses.dataclass
class Example:
    """One example: what it needs, how it is built, and how it is run."""

    name: str
    # Each is (kind, name, Debian package); see need().
    needs: list
    # A command whose output holds the version, or None; and the part of the output that is the version.
    version: list
    # Called with the folder to build in; returns the runs to make: (mode of drive.py, start, command).
    build: callable


def output_of(command, **options):
    """What a command writes; Failed when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise Failed("%s\n%s" % (shlex.join(str(word) for word in command), done.stdout))
    return done.stdout


def succeeds(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def need(kind, name, package):
    """Raises Missing if there is no such tool, pkg-config module, file, or module of a language."""
    if kind == "tool":
        there = shutil.which(name)
    elif kind == "module":
        there = shutil.which("pkg-config") and succeeds(["pkg-config", "--exists", name])
    elif kind == "file":
        there = os.path.exists(name)
    else:
        there = shutil.which(kind.split()[0]) and succeeds(kind.split() + [name])
    if not there:
        raise Missing(name, package)


def flags_of(*modules, system=()):
    """Compiler and linker flags of pkg-config modules; warnings in the headers of system ones are not ours to mend."""
    words = shlex.split(output_of(["pkg-config", "--cflags", "--libs", *modules]))
    if system:
        found = shlex.split(output_of(["pkg-config", "--cflags", "--libs", *system]))
        words += [re.sub(r"^-I", "-isystem", word) for word in found]
    return words


def compiler(language="c"):
    """The compiler that make was told to use, or the system's."""
    return shlex.split(os.environ.get("CC", "cc") if language == "c" else os.environ.get("CXX", "c++"))


def build_control(folder):
    """The program that hears what a closed example may not hear."""
    need("tool", compiler()[0], "gcc")
    need("tool", "pkg-config", "pkg-config")
    control = folder / "control"
    source = TOP / "examples" / "c" / "poll_loop.c"
    output_of([*compiler(), "-std=c11", "-D_GNU_SOURCE", *WARNINGS, source, *flags_of("libreach"), "-o", control])
    return control


def run(mode, start, command, control):
    """Runs an example in a network namespace of its own."""
    output_of(["unshare", "-Urn", "--", sys.executable, DRIVE, mode, start, "--control", control, "--", *command])


def version_of(example):
    text = output_of(example.version)
    found = re.search(r"\d+(\.\d+)+", text) or re.search(r"\d+", text)
    return found.group(0) if found else "?"


def main(what, examples, complete):
    """Builds and runs the examples, and prints the table. The exit status."""
    parser = argparse.ArgumentParser(description="Builds and runs the %s examples." % what)
    parser.add_argument("folder", type=pathlib.Path, help="where to build")
    parser.add_argument("names", nargs="*", help="only these")
    options = parser.parse_args()
    unknown = set(options.names) - {example.name for example in examples}
    if unknown:
        parser.error("there is no %s" % ", ".join(sorted(unknown)))
    folder = options.folder.resolve()
    in_ci = os.environ.get("CI") == "true"

    problems = list(complete())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        need("tool", "unshare", "util-linux")
        need("tool", "ip", "iproute2")
        if not succeeds(["unshare", "-Urn", "--", "true"]):
            raise Failed("`unshare -Urn` fails: this machine does not allow the network namespaces that this needs")
        control = build_control(folder)
    except Missing as missing:
        print("%s is missing: apt-get install --no-install-recommends %s" % (missing, missing.package))
        return 1
    except Failed as failed:
        print(failed)
        return 1

    rows, packages = [], []
    for example in examples:
        if options.names and example.name not in options.names:
            continue
        version, result = "", "passed"
        try:
            for each in example.needs:
                need(*each)
            version = version_of(example)
            place = folder / example.name
            place.mkdir(exist_ok=True)
            for mode, start, command in example.build(place):
                run(mode, start, command, control)
        except Missing as missing:
            result = "SKIPPED: %s is missing (package %s)" % (missing, missing.package)
            packages.append(missing.package)
        except Failed as failed:
            result = "FAILED"
            problems.append("%s: %s" % (example.name, failed))
        rows.append((example.name, version, result))
        print("%-12s %-16s %s" % rows[-1], flush=True)

    for problem in problems:
        print("\n" + problem)
    if packages:
        print("\nWhat was skipped is brought by: apt-get install --no-install-recommends " +
              " ".join(sorted(set(packages))))
    passed = sum(1 for row in rows if row[2] == "passed")
    print("\n%d of %d %s passed" % (passed, len(rows), what))
    return 1 if problems or (packages and in_ci) else 0
