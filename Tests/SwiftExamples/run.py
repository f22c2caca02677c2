#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Builds the Swift examples, a package that depends on this one by its path, and runs them: see Tests/FFI/drive.py.

    make test-examples-swift
"""

import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "FFI"))
import harness  # noqa: E402, the path has to be set first
from harness import TOP, Example, output_of  # noqa: E402

PACKAGE = TOP / "examples" / "swift"
SWIFT = os.environ.get("SWIFT", "swift")
SWIFTC = os.environ.get("SWIFTC", "swiftc")
RUNS = [("watch", "watch", "offline", []), ("watch", "watch", "online", []),
        ("monitor", "monitor", "offline", ["198.51.100.1"]), ("monitor", "monitor", "online", ["198.51.100.1"]),
        ("confirm", "confirm", "offline", ["600000"]), ("confirm", "confirm", "online", ["600000"]),
        ("confirm-offline", "confirm", "offline", ["100"]), ("confirm-offline", "confirm", "offline", ["0"])]


def build(place):
    # Afresh: the package manager does not notice that a package it depends on by path has got another file.
    scratch = place / "build"
    shutil.rmtree(scratch, ignore_errors=True)
    command = [SWIFT, "build", "--package-path", PACKAGE, "--scratch-path", scratch]
    output_of([*command, "-Xswiftc", "-warnings-as-errors"])
    programs = pathlib.Path(output_of([*command, "--show-bin-path"]).strip())
    check_readme(place / "main.swift", programs / "Modules")
    return [(mode, start, [programs / program, *words]) for mode, program, start, words in RUNS]


def check_readme(file, modules):
    """The README's program compiles against the modules that the examples were built with."""
    programs = re.findall(r"^```swift\n(.*?)^```$", (TOP / "README.md").read_text(), re.M | re.S)
    assert programs, "the README has no program in Swift"
    for program in programs:
        file.write_text(program)
        output_of([SWIFTC, "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-I", modules,
                   "-I", TOP / "Sources" / "CLinux", file])


def complete():
    """No program of the package may be left out."""
    for path in sorted((PACKAGE / "Sources").iterdir()):
        if path.name not in {run[1] for run in RUNS}:
            yield "examples/swift/Sources/%s is not run by this runner" % path.name


if __name__ == "__main__":
    swift = Example("swift", [("tool", SWIFT, "swift")],
                    [SWIFT, "--version"], build)
    sys.exit(harness.main("Swift examples", [swift], complete))
