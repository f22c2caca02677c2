# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""What the checks share: where things are, the header as the compiler reads it, and the tracked files."""

import json
import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", TOP / "build"))


def run(*command, **keywords):
    """Runs a command and gives its standard output; its errors stand in the failure."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=TOP, **keywords)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def tracked_files():
    """Every file that git tracks or would track, so that a check fails before the commit rather than after it."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return [TOP / name for name in listed if name and (TOP / name).is_file()]


def text_of(path):
    """The text of a file, or None for one that is not text."""
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


class Header:
    """include/reach.h as clang reads it, so that no check depends on how its lines are broken."""

    def __init__(self):
        self.path = TOP / "include" / "reach.h"
        dump = run("clang", "-x", "c", "-std=c11", "-fsyntax-only", "-Xclang", "-ast-dump=json", self.path)
        self.functions = {}
        for node in json.loads(dump)["inner"]:
            if node["kind"] == "FunctionDecl" and node["name"].startswith("reach_"):
                parameters = [part for part in node.get("inner", []) if part["kind"] == "ParmVarDecl"]
                self.functions[node["name"]] = (
                    node["type"]["qualType"].split("(")[0].strip(),
                    [(part["type"]["qualType"], part["name"]) for part in parameters],
                )
        defined = run("clang", "-x", "c", "-std=c11", "-E", "-dM", self.path)
        self.macros = dict(re.findall(r"^#define (REACH_\w+)(?:\([^)]*\))? ?(.*)$", defined, re.M))


@pytest.fixture(scope="session")
def header():
    return Header()


@pytest.fixture(scope="session")
def library():
    path = BUILD / "libreach.so.1"
    assert path.exists(), "build/libreach.so.1 is not there: run make lib"
    return path
