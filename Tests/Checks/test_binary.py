# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The shipped library as a file: what it needs, what it gives, how large and how hardened it is."""

import re

import pytest
from elftools.elf.elffile import ELFFile

from conftest import BUILD, TOP, run

SYMBOLS = TOP / "Sources" / "CReachabilityABI" / "symbols.txt"
PROMISED_SIZE = 128 * 1024


@pytest.fixture(scope="module")
def elf(library):
    with open(library, "rb") as file:
        yield ELFFile(file)


@pytest.fixture(scope="module")
def dynamic(elf):
    """The dynamic section as a list of pairs (tag without DT_, value)."""
    entries = []
    for tag in elf.get_section_by_name(".dynamic").iter_tags():
        value = next((getattr(tag, name) for name in ("needed", "soname", "rpath", "runpath") if hasattr(tag, name)),
                     tag.entry.d_val)
        entries.append((tag.entry.d_tag.removeprefix("DT_"), value))
    return entries


def promised_symbols():
    lines = SYMBOLS.read_text().split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def exported(elf):
    """The names that others can link with: defined, global, and visible. Version nodes are not names."""
    table = elf.get_section_by_name(".dynsym")
    return sorted(symbol.name for symbol in table.iter_symbols()
                  if symbol.entry.st_shndx not in ("SHN_UNDEF", "SHN_ABS")
                  and symbol.entry.st_info.bind != "STB_LOCAL"
                  and symbol.entry.st_other.visibility in ("STV_DEFAULT", "STV_PROTECTED"))


def test_only_libc_is_needed(dynamic):
    assert [value for tag, value in dynamic if tag == "NEEDED"] == ["libc.so.6"]


def test_soname(dynamic):
    assert [value for tag, value in dynamic if tag == "SONAME"] == ["libreach.so.1"]


def test_stripped_and_small(library, elf):
    assert elf.get_section_by_name(".symtab") is None, "the shipped library is not stripped"
    size = library.stat().st_size
    print(f"{library.name}: {size} bytes of at most {PROMISED_SIZE}")
    assert size < PROMISED_SIZE


def test_symbol_list_is_sorted_and_unique():
    names = promised_symbols()
    assert names == sorted(set(names))


def test_header_declares_what_the_list_promises(header):
    assert sorted(header.functions) == promised_symbols()


def test_library_exports_what_the_list_promises(elf):
    assert exported(elf) == promised_symbols()


def test_nm_agrees(library):
    """The same question asked with the tool that people use, so that a mistake in the reading above is seen."""
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    names = sorted(re.sub(r"@.*", "", line.split()[-1]) for line in lines if " A " not in line)
    assert names == promised_symbols()


def test_every_export_is_a_function_of_version_one(library):
    for line in run("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        _, kind, name = line.split()
        if kind == "A":
            assert name == "REACH_1" or name.startswith("REACH_1@"), line
        else:
            assert kind == "T" and name.endswith("@@REACH_1"), line


def test_static_library_shows_the_same_names_and_no_more():
    lines = run("nm", "-g", "--defined-only", BUILD / "libreach.a").splitlines()
    assert sorted(line.split()[-1] for line in lines if len(line.split()) == 3) == promised_symbols()


def test_relocations_are_read_only_and_bound_at_load(elf, dynamic):
    assert any(segment.header.p_type == "PT_GNU_RELRO" for segment in elf.iter_segments())
    tags = dict(dynamic)
    assert "BIND_NOW" in tags or tags.get("FLAGS", 0) & 0x8 or tags.get("FLAGS_1", 0) & 0x1


def test_no_text_relocations(dynamic):
    tags = dict(dynamic)
    assert "TEXTREL" not in tags and not tags.get("FLAGS", 0) & 0x4


def test_stack_is_not_executable(elf):
    stacks = [segment.header.p_flags for segment in elf.iter_segments() if segment.header.p_type == "PT_GNU_STACK"]
    assert len(stacks) == 1 and not stacks[0] & 1


def test_nothing_is_writable_and_executable(elf):
    for segment in elf.iter_segments():
        if segment.header.p_type == "PT_LOAD":
            assert segment.header.p_flags & 3 != 3, "a segment is writable and executable"


def test_no_search_path_is_built_in(dynamic):
    assert not [value for tag, value in dynamic if tag in ("RPATH", "RUNPATH")]


def test_cannot_be_unloaded(dynamic):
    assert dict(dynamic).get("FLAGS_1", 0) & 0x8, "DF_1_NODELETE is not set"


def test_no_thread_local_storage_of_the_static_kind(dynamic):
    """DF_STATIC_TLS would make dlopen fail in a process whose spare room for it is used up."""
    assert not dict(dynamic).get("FLAGS", 0) & 0x10


def test_nothing_of_ours_runs_at_load(elf, dynamic):
    """The only constructors allowed are the compiler's own start-up object's: one entry each way at most."""
    tags = dict(dynamic)
    assert tags.get("INIT_ARRAYSZ", 0) <= elf.elfclass // 8
    assert tags.get("FINI_ARRAYSZ", 0) <= elf.elfclass // 8


def test_build_id_is_there(elf):
    """Distributions find the separate debug information by it."""
    assert elf.get_section_by_name(".note.gnu.build-id") is not None


def test_no_environment_and_no_output_functions_are_imported(library):
    """A guest in somebody's process reads no environment, installs no handler, and prints nothing."""
    names = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--undefined-only", library).splitlines()}
    forbidden = re.compile(r"(secure_)?getenv|setenv|putenv|environ|signal|sigaction|v?d?f?printf|puts|putchar|perror|"
                           r"syslog|atexit|__cxa_atexit|exit|system|popen|setlocale|pthread_atfork|__register_atfork")
    assert sorted(name for name in names if forbidden.fullmatch(name)) == []


def test_imports_are_old_enough(library):
    """docs/ABI.md promises that this glibc is enough."""
    text = run("nm", "-D", "--undefined-only", "--with-symbol-versions", library)
    newest = max(tuple(map(int, version.split("."))) for version in re.findall(r"@GLIBC_([\d.]+)", text))
    assert newest <= (2, 34), f"GLIBC_{newest} is needed"


def test_nothing_is_made_at_first_use_under_a_token():
    """A token that says "being made" stays so in a child that is forked meanwhile, and the child waits for ever."""
    names = run("nm", str(BUILD / "libreach.so.1.unstripped"))
    assert " reach_get_flags" in names
    assert "swift_once" not in names
