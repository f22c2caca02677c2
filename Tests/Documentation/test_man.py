# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The manual pages: well-formed, complete, and in step with the library, the header and the tool."""

import json
import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", TOP / "build"))
PAGES = sorted((TOP / "man").glob("*.[13]"))
LIBRARY_PAGES = [page for page in PAGES if page.suffix == ".3"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

# What mandoc cannot know: which other manuals are installed where the check runs.
ABOUT_THE_MACHINE = re.compile(r"referenced manual not found|outdated mandoc\.db|mandoc\.db")


def run(*command, **keywords):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **keywords)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def section(page, title):
    """The lines of one section of a page."""
    found = re.search(rf"^\.Sh {title}$\n(.*?)(?=^\.Sh |\Z)", page.read_text(), re.M | re.S)
    return found.group(1).splitlines() if found else []


def names(page):
    """What a page's first section says it describes."""
    return [line.split()[1] for line in section(page, "NAME") if line.startswith(".Nm ")]


def exported():
    lines = run("nm", "-D", "--defined-only", BUILD / "libreach.so.1").splitlines()
    return {line.split()[2].split("@")[0] for line in lines if line.split()[1] == "T"}


def types():
    """The types of the header, which have names in the manual too."""
    header = (TOP / "include" / "reach.h").read_text()
    return set(re.findall(r"^typedef (?:struct \w+ |\w+ +)(\w+);", header, re.M)) | \
        set(re.findall(r"^typedef void \(\*(\w+)\)", header, re.M)) | set(re.findall(r"^} (\w+);", header, re.M))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lint(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", str(page)], capture_output=True, text=True)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not ABOUT_THE_MACHINE.search(line)]
    assert said == []


def test_every_symbol_has_one_page():
    described = [name for page in LIBRARY_PAGES for name in names(page)]
    assert sorted(described) == sorted(set(described)), "a name stands on two pages"
    functions = set(described) - types() - {"libreach"}
    assert functions == exported()


def test_every_type_has_a_page():
    described = {name for page in LIBRARY_PAGES for name in names(page)}
    assert types() <= described


def prototypes(page):
    """The functions of a page's synopsis, as C."""
    lines = section(page, "SYNOPSIS")
    result, index = [], 0
    kind = None
    while index < len(lines):
        words = re.findall(r'"[^"]*"|\S+', lines[index])
        if words[:1] == [".Ft"]:
            kind = " ".join(words[1:])
        elif words[:1] == [".Fn"]:
            result.append((words[1], f"{kind} {words[1]}({', '.join(word.strip(chr(34)) for word in words[2:])});"))
        elif words[:1] == [".Fo"]:
            arguments = []
            while not lines[index + 1].startswith(".Fc"):
                index += 1
                arguments.append(lines[index].removeprefix(".Fa ").strip('"'))
            result.append((words[1], f"{kind} {words[1]}({', '.join(arguments)});"))
        index += 1
    return result


def test_prototypes_are_the_headers(tmp_path):
    """A compiler that has seen the header takes the manual's declarations only when they are the same."""
    declared = [prototype for page in LIBRARY_PAGES for prototype in prototypes(page)]
    assert {name for name, _ in declared} == exported()
    source = tmp_path / "prototypes.c"
    source.write_text("#include <reach.h>\n" + "\n".join(text for _, text in declared) + "\n")
    run("cc", "-std=c11", *STRICT, "-I", TOP / "include", "-fsyntax-only", source)
    # And it is the header's parameter names that the manual explains.
    header = re.sub(r"\s+", " ", (TOP / "include" / "reach.h").read_text())
    for name, text in declared:
        assert re.sub(r"\s+", " ", text.replace("* ", "*")) in header, text


def test_structures_are_the_headers():
    """The layout of a structure that a page shows is the header's, field by field."""
    def fields(path):
        body = re.search(r"typedef struct reach_path \{(.*?)\} reach_path;", path.read_text(), re.S).group(1)
        return [re.sub(r"\s+", " ", field) for field in re.findall(r"^\s*([\w ]+(?:\[\d+\])?);", body, re.M)]
    assert fields(TOP / "man/reach_get_path.3") == fields(TOP / "include/reach.h") != []


def test_callback_types_are_the_headers(tmp_path):
    text = "\n".join(page.read_text() for page in LIBRARY_PAGES)
    shown = re.findall(r"typedef void \(\*\w+\)\([^;]*\);", text)
    assert len(shown) == 3
    source = tmp_path / "callbacks.c"
    source.write_text("#include <reach.h>\n" + "\n".join(shown) + "\n")
    # C11 allows a typedef to be repeated, if it is the same.
    run("cc", "-std=c11", *STRICT, "-I", TOP / "include", "-fsyntax-only", source)


def test_every_constant_is_described():
    defined = run("cc", "-E", "-dM", "-xc", TOP / "include" / "reach.h")
    constants = set(re.findall(r"^#define (REACH_[A-Z0-9_]+) ", defined, re.M)) - {"REACH_H"}
    text = "\n".join(page.read_text() for page in LIBRARY_PAGES)
    assert set(re.findall(r"^\.(?:It )?Dv (REACH_[A-Z0-9_]+)", text, re.M)) == constants


def test_references_lead_somewhere():
    known = {name: "3" for page in LIBRARY_PAGES for name in [*names(page), page.stem]} | {"reach": "1"}
    for page in PAGES:
        for name, number in re.findall(r"^\.Xr (\S+) (\d)", page.read_text(), re.M):
            if name.startswith(("reach", "libreach")):
                assert known.get(name) == number, f"{page.name}: {name}({number})"


def test_aliases_are_for_all_functions():
    """What install puts beside the pages, so that man finds each function."""
    run("make", "-s", "man-aliases", cwd=TOP)
    folder = TOP / "build" / "configured" / "man3"
    made = {path.stem: path.read_text() for path in folder.glob("*.3")}
    pages = {page.stem for page in LIBRARY_PAGES}
    assert exported() | types() <= set(made) | pages
    for name, text in made.items():
        page = re.fullmatch(r"\.so man3/(\w+)\.3\n", text).group(1)
        assert name in names(TOP / "man" / f"{page}.3")


def examples():
    for page in LIBRARY_PAGES:
        for number, block in enumerate(re.findall(r"^\.Bd -literal\n(.*?)^\.Ed", page.read_text(), re.M | re.S)):
            if "int main(" in block:
                yield pytest.param(block, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("block", examples())
def test_examples_compile(block, tmp_path):
    source = tmp_path / "example.c"
    source.write_text(block.replace("\\e", "\\"))
    for compiler in ("gcc", "clang"):
        run(compiler, "-std=c11", "-D_POSIX_C_SOURCE=200809L", *STRICT, "-I", TOP / "include", source, "-L", BUILD,
            "-lreach", "-o", tmp_path / "example")


def test_the_tools_options_are_described():
    help_text = run(BUILD / "reach", "--help")
    options = set(re.findall(r"(?<![\w-])(-[a-zA-Z]|--[a-z-]+)\b", help_text))
    described = set()
    for line in section(TOP / "man/reach.1", "DESCRIPTION"):
        if line.startswith(".It Fl"):
            # "Fl t Ar seconds , Fl -timeout", and "Fl e , -explain"
            for flags in re.findall(r"Fl ((?:-?[a-z-]+|[A-Z]|,| )+?)(?= (?:Ar|Ns|Fl)|$)", line):
                described |= {"-" + word for word in flags.replace(",", " ").split()}
    assert described == options


def test_the_tools_json_is_described():
    """The keys of the objects stand in the manual in their order, and no others."""
    lines = section(TOP / "man/reach.1", "DESCRIPTION")
    start = lines.index(".Ss JSON")
    items = [line for line in lines[start:] if line.startswith(".It Li")]
    described = [key for line in items for key in re.findall(r"[a-z_0-9]+", line[6:])]
    printed = list(json.loads(run(BUILD / "reach", "--json", "127.0.0.1")))
    assert described == printed


def test_the_tools_statuses_are_described():
    statuses = [line.split()[1] for line in section(TOP / "man/reach.1", "EXIT STATUS") if line.startswith(".It ")]
    assert statuses == ["0", "1", "2", "3"]
