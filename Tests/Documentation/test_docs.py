# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The pages in docs and the texts beside them: what they show compiles, what they name exists, their links lead on."""

import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", TOP / "build"))
TEXTS = sorted([*TOP.glob("*.md"), *(TOP / "docs").glob("*.md")])
HEADER = "".join(path.read_text() for path in sorted((TOP / "include").glob("reach.*")))


def blocks(language):
    for path in TEXTS:
        for number, block in enumerate(re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.M | re.S), 1):
            yield pytest.param(block, id=f"{path.stem}-{number}")


@pytest.mark.parametrize("block", [part for part in blocks("c") if "int main(" in part.values[0]])
def test_programs_compile(block, tmp_path):
    source = tmp_path / "program.c"
    source.write_text(block)
    for compiler in ("gcc", "clang"):
        done = subprocess.run([compiler, "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic",
                               "-Werror", f"-I{TOP / 'include'}", str(source), f"-L{BUILD}", "-lreach", "-o",
                               str(tmp_path / "program")], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_names_exist(path):
    text = path.read_text()
    # Ends like reach_create_ stand for the names that begin so; reach_flags/ would be a path.
    for name in set(re.findall(r"(?<![\w./-])(?:reach_[a-z_]+|REACH_[A-Z_]+)\b(?![./-]\w)", text)):
        assert re.search(rf"\b{name}", HEADER) or name in ("REACH_TOOL",), f"{path.name}: {name}"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_links(path):
    for link in re.findall(r"\]\(([^)#\s]+)", path.read_text()):
        if not re.match(r"[a-z]+:", link):
            assert (path.parent / link).exists(), link


def test_the_tool_is_shown_with_its_options():
    help_text = subprocess.run([BUILD / "reach", "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"(?<![\w-])(-[a-zA-Z]|--[a-z-]+)\b", help_text))
    for path in TEXTS:
        for command in re.findall(r"(?:^|[`=\s])reach((?: +-[\w=-]+)+)", path.read_text(), re.M):
            for option in re.findall(r"(--[a-z-]+|-[a-zA-Z]+)", command):
                single = {option} if option.startswith("--") else {f"-{letter}" for letter in option[1:]}
                assert single <= known, f"{path.name}: reach{command}"


def test_debian_names_the_same_symbols_and_version():
    symbols = (TOP / "Sources/CReachabilityABI/symbols.txt").read_text().split()
    debian = re.findall(r"^ (reach_\w+)@REACH_1 ", (TOP / "debian/libreach1.symbols").read_text(), re.M)
    assert debian == sorted(symbols)
    version = re.search(r'REACH_VERSION_STRING "(.*)"', HEADER).group(1)
    assert (TOP / "debian/changelog").read_text().startswith(f"libreach ({version}) ")
