# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The interface is kept: against a stored description, against numbers written out, and in every dialect."""

import re
import shutil
import subprocess

import pytest

import abi_library
from conftest import TOP, run

LAYOUT = TOP / "Tests" / "Checks" / "abi" / "layout.c"
C_DIALECTS = ["c99", "gnu99", "c11", "c17", "gnu17", "c2x"]
CXX_DIALECTS = ["c++98", "c++11", "c++14", "c++17", "c++20"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow", "-Wundef", "-Wcast-qual"]


@pytest.fixture(scope="module")
def interface(tmp_path_factory):
    return abi_library.build(tmp_path_factory.mktemp("abi"))


def test_interface_is_the_stored_one(interface):
    status, text = abi_library.difference(interface)
    assert status == 0, text


def test_the_description_is_the_same_wherever_it_is_made(interface, tmp_path):
    """Else it would change without a change, and tell of the folders of whoever made it."""
    abi_library.describe(interface, tmp_path / "first")
    (tmp_path / "elsewhere").mkdir()
    abi_library.describe(abi_library.build(tmp_path / "elsewhere"), tmp_path / "second")
    assert (tmp_path / "first").read_text() == (tmp_path / "second").read_text()
    assert re.findall(r"='(/[^']*)'", abi_library.BASELINE.read_text()) == []


def test_a_changed_interface_would_be_seen(tmp_path):
    """The check above is worth something only if it can fail: a parameter that turns from 32 to 64 bits is a break."""
    abi_library.build(tmp_path)
    changed = tmp_path / "interface.c"
    for original, copy in ((changed, changed), (TOP / "include" / "reach.h", tmp_path / "reach.h")):
        copy.write_text(original.read_text().replace("int timeout_ms", "long timeout_ms"))
    run("gcc", "-std=c11", "-g", "-shared", "-fPIC", "-Wl,-soname=libreach.so.1",
        f"-Wl,--version-script={abi_library.MAP}", f"-I{tmp_path}", changed, "-o", tmp_path / "libreach.so.1")
    status, said = abi_library.difference(tmp_path / "libreach.so.1")
    assert status and "'int' to 'long int'" in said, said


def test_a_lost_function_would_be_seen(tmp_path):
    library = abi_library.build(tmp_path)
    source = tmp_path / "interface.c"
    source.write_text("\n".join(line for line in source.read_text().split("\n") if " reach_wait(" not in line))
    run("gcc", "-std=c11", "-g", "-shared", "-fPIC", "-Wl,-soname=libreach.so.1",
        f"-Wl,--version-script={abi_library.MAP}", f"-I{TOP / 'include'}", source, "-o", library)
    status, said = abi_library.difference(library)
    assert status & abi_library.INCOMPATIBLE and "reach_wait" in said, said


def test_shipped_library_has_the_symbols_of_the_description(library):
    """By name and version, so that the description speaks of the library that is shipped."""
    described = re.findall(r"<elf-symbol name='(reach_\w+)' version='(\w+)'", abi_library.BASELINE.read_text())
    shipped = re.findall(r" T (reach_\w+)@@(\w+)", run("nm", "-D", "--defined-only", "--with-symbol-versions", library))
    assert sorted(described) == sorted(shipped)


@pytest.mark.parametrize("dialect", C_DIALECTS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_layout_in_c(compiler, dialect):
    run(compiler, f"-std={dialect}", *WARNINGS, "-fsyntax-only", "-x", "c", f"-I{TOP / 'include'}", LAYOUT)


@pytest.mark.parametrize("dialect", CXX_DIALECTS[1:])
@pytest.mark.parametrize("compiler", ["g++", "clang"])
def test_layout_in_cxx(compiler, dialect):
    run(compiler, f"-std={dialect}", *WARNINGS, "-fsyntax-only", "-x", "c++", f"-I{TOP / 'include'}", LAYOUT)


@pytest.mark.parametrize("dialect", C_DIALECTS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_header_alone_in_c(compiler, dialect, tmp_path):
    """Alone, and twice: what it needs it includes itself."""
    source = tmp_path / "alone.c"
    source.write_text("#include <reach.h>\n#include <reach.h>\nint unused_but_not_empty;\n")
    run(compiler, f"-std={dialect}", *WARNINGS, "-fsyntax-only", f"-I{TOP / 'include'}", source)


@pytest.mark.parametrize("dialect", CXX_DIALECTS)
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_header_alone_in_cxx(compiler, dialect, tmp_path):
    source = tmp_path / "alone.cc"
    source.write_text("#include <reach.h>\n#include <reach.h>\nint unused_but_not_empty;\n")
    allowed = ["-Wno-long-long", "-Wno-c++11-long-long"] if dialect == "c++98" and "clang" in compiler else \
              ["-Wno-long-long"] if dialect == "c++98" else []
    run(compiler, f"-std={dialect}", *WARNINGS, *allowed, "-fsyntax-only", f"-I{TOP / 'include'}", source)


def test_header_with_musl(tmp_path):
    """The C interface means the same with another libc: types, sizes and constants."""
    assert shutil.which("musl-gcc"), "musl-gcc is missing: apt-get install musl-tools"
    run("musl-gcc", "-std=c11", *WARNINGS, "-fsyntax-only", f"-I{TOP / 'include'}", LAYOUT)


def test_every_constant_is_written_out(header):
    text = LAYOUT.read_text()
    constants = [name for name in header.macros
                 if re.match(r"REACH_(FLAG|STATUS|LINK|REASON)_", name) and not name.endswith("_")]
    assert len(constants) > 30
    assert [name for name in constants if f"CONSTANT({name}," not in text] == []


def test_a_wrong_number_would_not_compile(tmp_path):
    changed = tmp_path / "layout.c"
    changed.write_text(LAYOUT.read_text().replace("CONSTANT(REACH_LINK_PPP, 6)", "CONSTANT(REACH_LINK_PPP, 7)"))
    done = subprocess.run(["gcc", "-std=c11", "-fsyntax-only", f"-I{TOP / 'include'}", changed], capture_output=True)
    assert done.returncode != 0


def test_no_enum_bitfield_or_struct_by_value(header):
    """Types whose size or passing a compiler may choose are not part of the interface."""
    allowed = {"void", "bool", "_Bool", "int", "int32_t", "uint32_t", "uint64_t", "size_t", "socklen_t", "reach_flags",
               "reach_status", "reach_callback", "reach_confirm_callback", "reach_monitor_callback"}
    for name, (result, parameters) in header.functions.items():
        for kind in [result] + [kind for kind, _ in parameters]:
            assert kind in allowed or "*" in kind, f"{name} passes {kind}"
