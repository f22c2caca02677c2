#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Builds the Swift examples, a package that depends on this one by its path, and runs them: see Tests/FFI/drive.py.

    make test-examples-swift
"""

import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "FFI"))
import harness  # noqa: E402, the path has to be set first
from harness import TOP, Example, output_of  # noqa: E402

PACKAGE = TOP / "examples" / "swift"
SWIFT = os.environ.get("SWIFT", "swift")
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
    return [(mode, start, [programs / program, *words]) for mode, program, start, words in RUNS]


def complete():
    """No program of the package may be left out."""
    for path in sorted((PACKAGE / "Sources").iterdir()):
        if path.name not in {run[1] for run in RUNS}:
            yield "examples/swift/Sources/%s is not run by this runner" % path.name


if __name__ == "__main__":
    swift = Example("swift", [("tool", SWIFT, "swift")],
                    [SWIFT, "--version"], build)
    sys.exit(harness.main("Swift examples", [swift], complete))
