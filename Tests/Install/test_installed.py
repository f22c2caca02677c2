# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""Programs of several kinds, built and run with nothing but an installed copy: `make installcheck` sets STAGE to it."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
STAGE = pathlib.Path(os.environ["STAGE"])
VERSION = os.environ["VERSION"]
USR = STAGE / "usr"
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

PROGRAM = """
#include <reach.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    reach_target *target = reach_create_with_name("127.0.0.1");
    reach_flags flags = 0;
    int known = target != NULL && reach_get_flags(target, &flags);
    int same = reach_version() == REACH_VERSION && strcmp(reach_version_string(), REACH_VERSION_STRING) == 0;

    reach_release(target);
    printf("%d %d %d\\n", known, same, flags == (REACH_FLAG_REACHABLE | REACH_FLAG_IS_LOCAL_ADDRESS |
                                                 REACH_FLAG_IS_DIRECT));
    return 0;
}
"""


def environment(**more):
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("PKG_CONFIG", "MAKE", "MFLAGS"))}
    return {**inherited, "PKG_CONFIG_PATH": str(USR / "lib/pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(STAGE),
            "LD_LIBRARY_PATH": str(USR / "lib"), **more}


def run(*command, env=None, **keywords):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env or environment(),
                          **keywords)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def flags(*arguments, env=None):
    return run("pkg-config", *arguments, "libreach", env=env).split()


def needed(program):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program)))


@pytest.fixture
def program(tmp_path):
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    return source


def test_library_and_links():
    library = USR / "lib" / f"libreach.so.{VERSION}"
    assert library.is_file() and not library.is_symlink()
    assert os.readlink(USR / "lib/libreach.so.1") == library.name
    assert os.readlink(USR / "lib/libreach.so") == "libreach.so.1"
    assert "Library soname: [libreach.so.1]" in run("readelf", "-d", library)
    # DESTDIR is where the copy was put, not where it is to be used.
    for path in STAGE.rglob("*"):
        if path.is_file():
            assert str(STAGE).encode() not in path.read_bytes(), path


def test_pkg_config_version():
    assert run("pkg-config", "--modversion", "libreach").strip() == VERSION


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("gcc", "c11"), ("clang", "c99"), ("clang", "c17")])
def test_c(program, tmp_path, compiler, standard):
    run(compiler, f"-std={standard}", *STRICT, program, *flags("--cflags", "--libs"), "-o", tmp_path / "program")
    assert "libreach.so.1" in needed(tmp_path / "program")
    assert run(tmp_path / "program") == "1 1 1\n"


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cxx(program, tmp_path, compiler):
    source = program.rename(tmp_path / "program.cc")
    run(compiler, "-std=c++17", *STRICT, source, *flags("--cflags", "--libs"), "-o", tmp_path / "program")
    assert run(tmp_path / "program") == "1 1 1\n"


def test_static_library(program, tmp_path):
    """The library inside the program, the C library still shared."""
    libs = [word for word in flags("--cflags", "--static", "--libs") if word != "-lreach"]
    run("gcc", "-std=c99", *STRICT, program, *libs, "-l:libreach.a", "-o", tmp_path / "program")
    assert "libreach.so.1" not in needed(tmp_path / "program")
    assert run(tmp_path / "program", env={"PATH": os.environ["PATH"]}) == "1 1 1\n"


def test_static_program(program, tmp_path):
    """Nothing shared at all. The linker tells that getaddrinfo wants the same glibc at run time, which is so."""
    run("gcc", "-std=c99", *STRICT, "-static", program, *flags("--cflags", "--static", "--libs"), "-o",
        tmp_path / "program")
    assert needed(tmp_path / "program") == set()
    assert run(tmp_path / "program", env={"PATH": os.environ["PATH"]}) == "1 1 1\n"


CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(program C)
find_package(reach @ASKED@ REQUIRED CONFIG)
message(STATUS "found reach ${reach_VERSION}")
add_executable(shared program.c)
target_link_libraries(shared PRIVATE reach::reach)
add_executable(static program.c)
target_link_libraries(static PRIVATE reach::reach_static)
"""


def configure(folder, asked):
    (folder / "CMakeLists.txt").write_text(CMAKE.replace("@ASKED@", asked))
    shutil.rmtree(folder / "build", ignore_errors=True)
    return subprocess.run(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={USR}"],
                          capture_output=True, text=True, env=environment())


def test_cmake(program, tmp_path):
    done = configure(tmp_path, "1.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"found reach {VERSION}" in done.stdout
    run("cmake", "--build", tmp_path / "build")
    assert "libreach.so.1" in needed(tmp_path / "build/shared")
    assert "libreach.so.1" not in needed(tmp_path / "build/static")
    for kind in ("shared", "static"):
        assert run(tmp_path / "build" / kind) == "1 1 1\n"


@pytest.mark.parametrize("asked, found", [("", True), ("1", True), (VERSION + " EXACT", True), ("1.0...<2", True),
                                          ("2", False), ("1.999", False), ("0.9", False), ("1.999...2", False)])
def test_cmake_versions(program, tmp_path, asked, found):
    assert (configure(tmp_path, asked).returncode == 0) is found


def test_cmake_tells_of_a_missing_file(program, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(USR, copy, symlinks=True)
    (copy / f"lib/libreach.so.{VERSION}").unlink()
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.replace("@ASKED@", "1.0"))
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={copy}"],
                          capture_output=True, text=True, env=environment())
    assert done.returncode != 0 and "is gone" in done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++", "clang++"])
def test_apples_names_are_not_where_every_compiler_looks(tmp_path, compiler):
    """A program that asks whether they are there, and does not ask for libreach, is not to take this for a Mac."""
    assert [path.name for path in (USR / "include").iterdir()] == ["libreach"]
    asked = [f"<{path.relative_to(USR / 'include/libreach')}>" for path in (USR / "include/libreach").rglob("*.h*")]
    assert {"<reach.h>", "<reach.hpp>", "<CoreFoundation/CoreFoundation.h>"} <= set(asked)
    source = tmp_path / "program.c"
    source.write_text("".join(f"#if __has_include({name}) != FOUND\n#error {name}\n#endif\n" for name in asked))
    default = ["-isystem", USR / "include", "-fsyntax-only", *(["-xc++"] if "+" in compiler else []), source]
    run(compiler, *default, "-DFOUND=0")
    run(compiler, *default, "-DFOUND=1", *flags("--cflags"))


def test_apples_names(tmp_path):
    source = tmp_path / "program.c"
    source.write_text("""
#include <SystemConfiguration/SystemConfiguration.h>
#include <stdio.h>

int main(void)
{
    SCNetworkReachabilityRef target = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, "127.0.0.1");
    SCNetworkReachabilityFlags flags = 0;
    int known = SCNetworkReachabilityGetFlags(target, &flags);

    printf("%d %d\\n", known, (flags & kSCNetworkReachabilityFlagsReachable) != 0);
    CFRelease(target);
    return 0;
}
""")
    words = flags("--cflags", "--libs")
    run("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", source, *words, "-o", tmp_path / "program")
    assert run(tmp_path / "program") == "1 1\n"


def test_module_map(tmp_path):
    """Swift, and clang with modules, see the header through the module map beside it."""
    source = tmp_path / "program.swift"
    source.write_text("import CReach\nprint(reach_version() == 0x1_0000 || reach_version() > 0x1_0000)\n")
    include, libraries = flags("--cflags"), flags("--libs")
    run("swiftc", *include, source, *libraries, "-o", tmp_path / "program")
    assert run(tmp_path / "program") == "true\n"


def test_tool():
    tool = USR / "bin/reach"
    assert "PATH" not in "".join(re.findall(r"\(R\w*PATH\)", run("readelf", "-d", tool)))
    assert run(tool, "--version") == f"reach {VERSION} (library {VERSION})\n"
    assert run(tool, "127.0.0.1").startswith("127.0.0.1: online (")


def test_manual_pages():
    functions = [line.split()[2].split("@")[0] for line in
                 run("nm", "-D", "--defined-only", USR / "lib/libreach.so.1").splitlines() if line.split()[1] == "T"]
    assert len(functions) > 10
    for name in [*functions, "libreach"]:
        page = USR / "share/man/man3" / f"{name}.3"
        target = re.match(r"\.so (\S+)", page.read_text())
        if target:
            page = USR / "share/man" / target.group(1)
        assert name in page.read_text()
    assert (USR / "share/man/man1/reach.1").is_file()


def test_not_installed_copy(program, tmp_path):
    """The library is found where it was built, too, and then preferred."""
    env = environment(PKG_CONFIG_PATH=str(TOP / "build"), PKG_CONFIG_SYSROOT_DIR="", LD_LIBRARY_PATH="")
    run("make", "-s", "build/libreach-uninstalled.pc", cwd=TOP, env=env)
    run("gcc", "-std=c99", *STRICT, program, *flags("--cflags", "--libs", env=env), "-o", tmp_path / "program", env=env)
    assert run(tmp_path / "program", env=env) == "1 1 1\n"


def files(folder):
    return [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]


def test_uninstall(tmp_path):
    for action in ("install", "uninstall"):
        said = run("make", "-s", action, f"DESTDIR={tmp_path}", "PREFIX=/usr", cwd=TOP).split()
        assert len(said) == len(set(said)), "what is listed twice is installed twice"
        assert bool(files(tmp_path)) is (action == "install")
    assert not (tmp_path / "usr/lib/cmake/reach").exists()
    assert not (tmp_path / "usr/include/libreach").exists() and (tmp_path / "usr/include").exists()


def test_own_prefix(program, tmp_path):
    """In somebody's home: nothing but the prefix has to be told, and the tool finds its library."""
    prefix = tmp_path / "home"
    # A cache of the loader's is not this test's to write.
    run("make", "-s", "install", f"PREFIX={prefix}", "LDCONFIG=true", cwd=TOP)
    env = environment(PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"), PKG_CONFIG_SYSROOT_DIR="", LD_LIBRARY_PATH="")
    assert run(prefix / "bin/reach", "--version", env=env).startswith("reach ")
    words = flags("--cflags", "--libs", env=env)
    run("gcc", "-std=c99", *STRICT, program, *words, f"-Wl,-rpath,{prefix}/lib", "-o", tmp_path / "program", env=env)
    assert run(tmp_path / "program", env=env) == "1 1 1\n"


def test_every_directory_can_be_chosen(tmp_path):
    places = {"LIBDIR": "/a/lib", "INCLUDEDIR": "/b/include", "BINDIR": "/c/bin", "MANDIR": "/d/man",
              "DATADIR": "/e/share"}
    words = [f"{name}={place}" for name, place in places.items()]
    run("make", "-s", "install", f"DESTDIR={tmp_path}", "PREFIX=/p", *words, cwd=TOP)
    tops = {path.relative_to(tmp_path).parts[0] for path in files(tmp_path)}
    assert tops == {"a", "b", "c", "d", "e"}
    text = (tmp_path / "a/lib/pkgconfig/libreach.pc").read_text()
    assert "libdir=/a/lib\n" in text and "includedir=/b/include\n" in text
    env = environment(CMAKE_PREFIX_PATH=str(tmp_path / "a"))
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.replace("@ASKED@", "1.0"))
    (tmp_path / "program.c").write_text(PROGRAM)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", env=env)
    run("cmake", "--build", tmp_path / "build", env=env)
