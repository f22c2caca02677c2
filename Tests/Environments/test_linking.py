# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""One program, linked with libreach in every way there is, and run where the answers are known."""

import os
import pathlib
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD_DIR", TOP / "build"))
PROGRAM = TOP / "Tests" / "Environments" / "program.c"
INCLUDE = f"-I{TOP / 'include'}"
C = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", INCLUDE]


def build(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def run(program, **environment):
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "sh", "-c",
                           'PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && exec "$0"', str(program)],
                          capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    assert "WRONG" not in done.stdout and "as it should be" in done.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_shared(compiler, tmp_path):
    build(compiler, *C, PROGRAM, "-o", tmp_path / "program", f"-L{BUILD}", "-lreach")
    run(tmp_path / "program", LD_LIBRARY_PATH=str(BUILD))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_archive_in_a_shared_program(compiler, tmp_path):
    build(compiler, *C, PROGRAM, "-o", tmp_path / "program", BUILD / "libreach.a")
    needed = build("readelf", "-d", tmp_path / "program")
    assert "libreach" not in needed and "libswift" not in needed
    run(tmp_path / "program")


def test_archive_in_a_static_program(tmp_path):
    """glibc warns that getaddrinfo loads modules even so; that is its nature, and only names need it."""
    build("gcc", *C, "-static", PROGRAM, "-o", tmp_path / "program", BUILD / "libreach.a", "-Wl,--no-warnings")
    assert "NEEDED" not in build("readelf", "-d", tmp_path / "program")
    run(tmp_path / "program")


def test_archive_in_a_static_pie_program(tmp_path):
    build("gcc", *C, "-static-pie", "-fPIE", PROGRAM, "-o", tmp_path / "program", BUILD / "libreach.a",
          "-Wl,--no-warnings")
    run(tmp_path / "program")


def test_header_against_musl(tmp_path):
    build("musl-gcc", *C, "-Wpedantic", "-c", PROGRAM, "-o", tmp_path / "program.o")


def test_archive_in_a_static_program_with_musl(tmp_path):
    """The archive uses of libc only what has one layout in both, so that it serves musl as well."""
    build("musl-gcc", *C, "-static", "-Wl,--gc-sections", PROGRAM, "-o", tmp_path / "program", BUILD / "libreach.a")
    run(tmp_path / "program")


def test_lazily_bound_preloaded_and_without_address_randomisation(tmp_path):
    build("gcc", *C, PROGRAM, "-o", tmp_path / "program", f"-L{BUILD}", "-lreach", "-Wl,-z,lazy", "-no-pie")
    run(tmp_path / "program", LD_LIBRARY_PATH=str(BUILD), LD_BIND_NOW="1")
    run(tmp_path / "program", LD_PRELOAD=str(BUILD / "libreach.so.1"), LD_LIBRARY_PATH=str(BUILD))


def test_in_a_swift_program(tmp_path):
    """Two Swift runtimes in one process: the program's full one, and the library's embedded one, which nobody sees."""
    build("swiftc", "-swift-version", "5", "-O", "-I", TOP / "include", "-module-cache-path", tmp_path / "cache",
          TOP / "Tests" / "Environments" / "Program.swift", "-o", tmp_path / "program", f"-L{BUILD}", "-lreach")
    run(tmp_path / "program", LD_LIBRARY_PATH=str(BUILD))


def test_in_a_statically_linked_swift_program(tmp_path):
    build("swiftc", "-swift-version", "5", "-O", "-static-stdlib", "-I", TOP / "include",
          "-module-cache-path", tmp_path / "cache",
          TOP / "Tests" / "Environments" / "Program.swift", "-o", tmp_path / "program", BUILD / "libreach.a")
    run(tmp_path / "program")
