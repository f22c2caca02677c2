#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Builds the event loop examples, and the other examples in C that hear changes, and runs them; then runs them again
with the address sanitizer, which finds what was not freed. See drive.py and harness.py in Tests/FFI.

    make test-loops [ONLY="glib qt"]
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "FFI"))

# pylint: disable=wrong-import-position
import harness
from harness import TOP, Example, SANITIZERS, WARNINGS, compiler, flags_of, output_of

EXAMPLES = TOP / "examples" / "c"
LINES = 60


def builder(source, runs, system=()):
    """How to build a file of examples/c: plainly and with the sanitizers, each to be run alike."""
    def build(place):
        if source.endswith(".cpp"):
            command = [*compiler("c++"), "-std=c++17", "-fPIC"]
        else:
            command = [*compiler(), "-std=c11", "-D_GNU_SOURCE"]
        command += WARNINGS + [EXAMPLES / source, *flags_of("libreach", system=system), "-o"]
        made = []
        for name, extra in (("plain", []), ("sanitized", SANITIZERS)):
            output_of([*command, place / name, *extra])
            made += [(mode, start, [place / name, *words]) for mode, start, words in runs]
        return made
    return build


def loop(name, source, system=(), package=None):
    """An event loop's example. Its version is that of its pkg-config module, or the C library's."""
    return Example(name, [("module", module, package) for module in system] or [("tool", compiler()[0], "gcc")],
                   ["pkg-config", "--modversion", *system] if system else ["getconf", "GNU_LIBC_VERSION"],
                   builder(source, [("loop", "offline", []), ("loop", "online", [])], system))


def other(name, runs):
    """An example in C that is not about a loop."""
    return Example(name, [("tool", compiler()[0], "gcc")], ["getconf", "GNU_LIBC_VERSION"], builder(name + ".c", runs))


LOOPS = [
    loop("poll", "poll_loop.c"),
    loop("epoll", "epoll_loop.c"),
    loop("libuv", "libuv_loop.c", ["libuv"], "libuv1-dev"),
    loop("libevent", "libevent_loop.c", ["libevent_core"], "libevent-dev"),
    loop("glib", "glib_loop.c", ["glib-2.0"], "libglib2.0-dev"),
    loop("qt", "qt_loop.cpp", ["Qt6Core"], "qt6-base-dev"),
    loop("sdevent", "sdevent_loop.c", ["libsystemd"], "libsystemd-dev"),
    other("watch", [("watch", "offline", []), ("watch", "online", [])]),
    other("monitor", [("monitor", "offline", ["198.51.100.1"]), ("monitor", "online", ["198.51.100.1"])]),
    other("confirm", [("confirm", "offline", ["600000"]), ("confirm", "online", ["600000"]),
                      ("confirm-offline", "offline", ["100"]), ("confirm-offline", "offline", ["0"])]),
]


def complete():
    """No loop may be left out, and none may grow."""
    for path in sorted([*EXAMPLES.glob("*_loop.c"), *EXAMPLES.glob("*_loop.cpp")]):
        if path.name.split("_loop.")[0] not in {example.name for example in LOOPS}:
            yield "examples/c/%s is not run by this runner" % path.name
        count = len(path.read_text().splitlines())
        if count >= LINES:
            yield "examples/c/%s has %d lines, and a loop is shown in fewer than %d" % (path.name, count, LINES)


if __name__ == "__main__":
    sys.exit(harness.main("loops", LOOPS, complete))
