#!/usr/bin/env python3
# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Builds the example of every language with its real compiler or interpreter, and runs it: see drive.py and harness.py.

    make test-ffi [ONLY="go ruby"]
"""

import os
import pathlib
import shutil
import sys

import harness
from harness import TOP, Example, Missing, SANITIZERS, WARNINGS, compiler, flags_of, need, output_of

EXAMPLES = TOP / "examples"
BOTH = ("offline", "online")


def both(command, mode="ffi"):
    """The two runs that each example makes: no fixed answer is right in both."""
    return [(mode, start, command) for start in BOTH]


def python(_place):
    return both([sys.executable, "-B", "-W", "error", EXAMPLES / "python" / "reach.py"])


def rust(place):
    environment = dict(os.environ, CARGO_TARGET_DIR=str(place), RUSTFLAGS="-D warnings")
    output_of(["cargo", "build", "--offline", "--locked"], cwd=EXAMPLES / "rust", env=environment)
    return both([place / "debug" / "reach"])


def go(place):
    # No module is fetched, since none is needed; and what the compiler keeps is kept here.
    environment = dict(os.environ, GOFLAGS="-mod=readonly", GOPROXY="off", GOCACHE=str(place / "cache"),
                       GOPATH=str(place / "path"), GOTOOLCHAIN="local")
    output_of(["go", "vet", "."], cwd=EXAMPLES / "go", env=environment)
    output_of(["go", "build", "-o", place / "reach", "."], cwd=EXAMPLES / "go", env=environment)
    return both([place / "reach"])


def node_headers():
    """The folder of node_api.h: beside the node that is run, or the distribution's."""
    executable = pathlib.Path(output_of(["node", "-p", "process.execPath"]).strip())
    folders = [executable.parents[1] / "include" / "node", pathlib.Path("/usr/include/node")]
    for folder in folders:
        if (folder / "node_api.h").exists():
            return folder
    raise Missing("node_api.h", "libnode-dev")


def node(place):
    output_of([*compiler(), "-shared", "-fPIC", *WARNINGS, "-isystem", node_headers(),
               EXAMPLES / "node" / "reach_node.c", *flags_of("libreach"), "-o", place / "reach_node.node"])
    shutil.copy(EXAMPLES / "node" / "reach.js", place)
    return both(["node", "--expose-gc", place / "reach.js"])


def luajit(_place):
    return both(["luajit", EXAMPLES / "luajit" / "reach.lua"])


def ruby(_place):
    return both(["ruby", "-w", EXAMPLES / "ruby" / "reach.rb"])


def php(_place):
    return both(["php", "-d", "error_reporting=-1", "-d", "display_errors=stderr", EXAMPLES / "php" / "reach.php"])


def perl(_place):
    return both(["perl", EXAMPLES / "perl" / "reach.pl"])


def java(place):
    output_of(["javac", "-Xlint:all,-try", "-Werror", "-h", place, "-d", place, EXAMPLES / "java" / "Reach.java"])
    kit = pathlib.Path(shutil.which("javac")).resolve().parents[1]
    need("file", kit / "include" / "jni.h", "default-jdk-headless")
    output_of([*compiler(), "-shared", "-fPIC", *WARNINGS, "-isystem", kit / "include", "-isystem",
               kit / "include" / "linux", "-I", place, EXAMPLES / "java" / "reach_jni.c", *flags_of("libreach"), "-o",
               place / "libreach_jni.so"])
    return both(["java", "-Xcheck:jni", "-cp", place, "-Djava.library.path=%s" % place, "Reach"])


def csharp(place):
    output_of(["mcs", "-warnaserror", "-out:%s" % (place / "Reach.exe"), EXAMPLES / "csharp" / "Reach.cs"])
    return both(["mono", place / "Reach.exe"])


def cpp(place):
    runs = []
    for mode, source in (("ffi", EXAMPLES / "cpp" / "watch.cpp"), ("hpp", TOP / "Tests" / "FFI" / "hpp.cpp")):
        for name, extra in (("plain", []), ("sanitized", SANITIZERS)):
            program = place / ("%s-%s" % (mode, name))
            output_of([*compiler("c++"), "-std=c++17", "-pthread", *WARNINGS, "-Wshadow", "-Wconversion", *extra,
                       source, *flags_of("libreach"), "-o", program])
            runs += both([program], mode)
    return runs


LANGUAGES = [
    Example("cpp", [("tool", compiler("c++")[0], "g++")], [*compiler("c++"), "--version"], cpp),
    Example("csharp", [("tool", "mcs", "mono-mcs"), ("tool", "mono", "mono-runtime")], ["mono", "--version"], csharp),
    Example("go", [("tool", "go", "golang-go")], ["go", "version"], go),
    Example("java", [("tool", "javac", "default-jdk-headless")], ["javac", "-version"], java),
    Example("luajit", [("tool", "luajit", "luajit")], ["luajit", "-v"], luajit),
    Example("node", [("tool", "node", "nodejs")], ["node", "--version"], node),
    Example("perl", [("perl -e", "use FFI::Platypus 2.00", "libffi-platypus-perl")], ["perl", "-e", "print $^V"], perl),
    Example("php", [("tool", "php", "php-cli"), ("php -r", "exit(extension_loaded('FFI') ? 0 : 1);", "php-cli")],
            ["php", "--version"], php),
    Example("python", [], [sys.executable, "--version"], python),
    Example("ruby", [("ruby -e", "require 'fiddle'", "ruby")], ["ruby", "--version"], ruby),
    Example("rust", [("tool", "cargo", "cargo")], ["rustc", "--version"], rust),
]


def complete():
    """No folder in examples may be left out. C has its own runner, and so has Swift."""
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    for name in sorted(folders - {example.name for example in LANGUAGES} - {"c", "swift"}):
        yield "examples/%s is not run by this runner" % name


if __name__ == "__main__":
    sys.exit(harness.main("languages", LANGUAGES, complete))
