# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The Debian packages, unpacked where nothing else is: `make deb` sets DEBS to the folder they are in."""

import os
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
DEBS = pathlib.Path(os.environ["DEBS"])
VERSION = os.environ["VERSION"]
PACKAGES = ["libreach1", "libreach-dev", "reach"]


def run(*command, **keywords):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **keywords)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def package(name):
    found = list(DEBS.glob(f"{name}_{VERSION}_*.deb"))
    assert len(found) == 1
    return found[0]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """All three, unpacked over each other."""
    folder = tmp_path_factory.mktemp("root")
    for name in PACKAGES:
        run("dpkg-deb", "-x", package(name), folder)
    return folder


def libdir(root):
    return next((root / "usr/lib").glob("*/libreach.so.1")).parent


def test_what_they_depend_on():
    depends = {name: run("dpkg-deb", "-f", package(name), "Depends").strip() for name in PACKAGES}
    assert re.fullmatch(r"libc6 \(>= [\d.]+\)", depends["libreach1"])
    assert depends["libreach-dev"] == f"libreach1 (= {VERSION})"
    assert re.fullmatch(rf"libc6 \(>= [\d.]+\), libreach1 \(>= {VERSION}\)", depends["reach"])


def test_no_two_have_the_same_file():
    files = [line.split()[5] for name in PACKAGES for line in run("dpkg-deb", "-c", package(name)).splitlines()]
    files = [file for file in files if not file.endswith("/")]
    assert sorted(files) == sorted(set(files))


def test_the_tool_finds_its_library(root):
    done = run(root / "usr/bin/reach", "--version", env={"LD_LIBRARY_PATH": str(libdir(root))})
    assert done == f"reach {VERSION} (library {VERSION})\n"


@pytest.mark.parametrize("static", [False, True])
def test_a_program_is_built_with_what_is_in_them(root, tmp_path, static):
    source = re.search(r"<<'END'\n(.*?)\nEND\n", (TOP / "debian/tests/compile").read_text(), re.S).group(1)
    (tmp_path / "program.c").write_text(source)
    environment = {"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(libdir(root) / "pkgconfig"),
                   "PKG_CONFIG_SYSROOT_DIR": str(root)}
    words = run("pkg-config", "--static" if static else "--print-errors", "--cflags", "--libs", "libreach",
                env=environment).split()
    run("gcc", *(["-static"] if static else []), tmp_path / "program.c", *words, "-o", tmp_path / "program")
    run(tmp_path / "program", env={"LD_LIBRARY_PATH": "" if static else str(libdir(root))})


def test_apples_names_are_not_where_every_compiler_looks(root):
    """A configure script that finds SystemConfiguration/ takes the machine for a Mac."""
    assert [path.name for path in (root / "usr/include").iterdir()] == ["libreach"]
    assert (root / "usr/include/libreach/SystemConfiguration/SystemConfiguration.h").is_file()
