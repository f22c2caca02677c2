# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""What every file of the project keeps to: its license lines, its length of line, and no trace of a machine."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import TOP, run, text_of, tracked_files

LICENSED = {".swift", ".c", ".h", ".cc", ".cpp", ".py", ".mk", ".sh", ".rs", ".go", ".lua", ".rb", ".php", ".pl",
            ".java", ".cs", ".js", ".m", ".modulemap", ".cmake", ".map"}
LICENSED_NAMES = {"Makefile", "run", "require", "CMakeLists.txt"}
LICENSE_FREE = {"libreach.map", "module.modulemap"}
LINE_LENGTH = {".swift": 120, ".c": 120, ".h": 120, ".cc": 120, ".cpp": 120, ".py": 120}


@pytest.fixture(scope="module")
def files():
    """The text files, with their text. Generated and recorded data, such as fuzz corpora, are not written by people."""
    found = {path: text_of(path) for path in tracked_files() if "corpus" not in path.parts}
    return {path: text for path, text in found.items() if text is not None}


def name(path):
    return str(path.relative_to(TOP))


def is_shell(path, text):
    return path.suffix == ".sh" or re.match(r"#! ?(/usr/bin/env |/bin/|/usr/bin/)(ba|da)?sh\b", text)


def test_license_lines(files):
    wrong = []
    for path, text in files.items():
        if (path.suffix in LICENSED or path.name in LICENSED_NAMES or is_shell(path, text)) \
                and path.name not in LICENSE_FREE and text.strip():
            start = "\n".join(text.split("\n")[:6])
            if "SPDX-FileCopyrightText: The libreach authors" not in start \
                    or "SPDX-License-Identifier: MIT" not in start:
                wrong.append(name(path))
    assert wrong == []


def test_lines(files):
    wrong = []
    for path, text in files.items():
        limit = LINE_LENGTH.get(path.suffix)
        for number, line in enumerate(text.split("\n"), 1):
            if limit and len(line) > limit:
                wrong.append(f"{name(path)}:{number}: {len(line)} characters")
            if limit and "\t" in line:
                wrong.append(f"{name(path)}:{number}: a tab")
            if limit and line != line.rstrip():
                wrong.append(f"{name(path)}:{number}: blanks at the end")
            if re.match(r"(<{7}|>{7}) ", line):
                wrong.append(f"{name(path)}:{number}: an unfinished merge")
        if limit and text and not text.endswith("\n"):
            wrong.append(f"{name(path)}: no line end at the end")
    assert wrong == []


def folders_of_this_machine():
    """Where this checkout, the compiler and the user's home happen to be: true here and nowhere else."""
    places = {TOP, pathlib.Path.home()}
    for tool in ("swiftc", "clang"):
        found = shutil.which(tool)
        if found:
            places.add(pathlib.Path(found).resolve().parent)
    standard = {"/usr", "/bin", "/sbin", "/lib", "/etc", "/tmp", "/var"}
    result = set()
    for place in places:
        parts = place.parts
        if len(parts) > 1 and f"/{parts[1]}" not in standard:
            result.add("/" + "/".join(parts[1:3]))
    return result


def hosts_of_this_machine():
    """The hosts that the package tools of this machine fetch from."""
    text = ""
    for path in [*pathlib.Path("/etc/apt").glob("sources.list*"), *pathlib.Path("/etc/apt").glob("*/*.list"),
                 *pathlib.Path("/etc/apt").glob("*/*.sources"), pathlib.Path("/etc/pip.conf"),
                 pathlib.Path.home() / ".config/pip/pip.conf", pathlib.Path.home() / ".pip/pip.conf"]:
        if path.is_file():
            text += path.read_text(errors="replace")
    text += "\n".join(value for key, value in os.environ.items() if re.match(r"(PIP|UV|GOPROXY|NPM|CARGO)", key))
    return set(re.findall(r"\w+://(?:[^/@\s]+@)?([\w.-]+)", text))


def test_no_trace_of_this_machine(files):
    wrong = []
    for needle in sorted(folders_of_this_machine() | hosts_of_this_machine()):
        pattern = re.compile(r"(?<![\w.])" + re.escape(needle) + r"(?![\w.-])")
        wrong += [f"{name(path)} names {needle}" for path, text in files.items() if pattern.search(text)]
    assert wrong == []


def test_scripts_can_be_run(files):
    wrong = [name(path) for path, text in files.items()
             if text.startswith("#!") and path.suffix != ".py" and not os.access(path, os.X_OK)]
    assert wrong == []


def test_shell_scripts(files):
    assert shutil.which("shellcheck"), "shellcheck is missing: apt-get install shellcheck"
    scripts = [name(path) for path, text in files.items() if is_shell(path, text)]
    assert scripts
    done = subprocess.run(["shellcheck", "--severity=style", "--external-sources", *scripts],
                          capture_output=True, text=True, cwd=TOP)
    assert done.returncode == 0, done.stdout + done.stderr


def test_public_make_targets_say_what_they_do():
    """make help is the table of contents: every target that README.md or CONTRIBUTING.md tells of is in it."""
    offered = set(re.findall(r"^  make ([\w-]+)", run("make", "-s", "help"), re.M))
    known = set(re.findall(r"^([\w-]+):", "\n".join(path.read_text() for path in
                                                    [TOP / "Makefile", *(TOP / "mk").glob("*.mk")]), re.M))
    for page in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`make ([\w-]+)", (TOP / page).read_text()):
            assert target in known, f"{page} tells of make {target}, which is not there"
            assert target in offered, f"{page} tells of make {target}, which make help does not list"


def test_make_help_is_a_table():
    """A name that is too long for its column would push its text away from the others."""
    lines = run("make", "-s", "help").splitlines()
    assert len({re.match(r"  make [\w-]+ +", line).end() for line in lines}) == 1, lines
    # They are sorted, so that none stands beside the one that it once followed.
    assert [line for line in lines if re.match(r"  make [\w-]+ +the same", line)] == []


def test_swift_is_formatted():
    sources = [name(path) for path in tracked_files() if path.suffix == ".swift"]
    assert sources
    done = subprocess.run(["swift", "format", "lint", "--strict", "--parallel", *sources],
                          capture_output=True, text=True, cwd=TOP)
    assert done.returncode == 0, done.stdout + done.stderr + "\nmake format mends most of it"
