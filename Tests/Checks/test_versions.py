# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""One version number everywhere. The header is where it is decided; each other place must say the same."""

import ctypes
import re

import pytest

from conftest import TOP, run


@pytest.fixture(scope="module")
def version(header):
    numbers = [int(header.macros[f"REACH_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(map(str, numbers))


def test_header_agrees_with_itself(header, version):
    assert header.macros["REACH_VERSION_STRING"] == f'"{version}"'


def test_library(library, version):
    loaded = ctypes.CDLL(str(library))
    loaded.reach_version_string.restype = ctypes.c_char_p
    loaded.reach_version.restype = ctypes.c_uint32
    major, minor, patch = map(int, version.split("."))
    assert loaded.reach_version_string().decode() == version
    assert loaded.reach_version() == major << 16 | minor << 8 | patch


def test_soname_is_the_major_version(version):
    """A new major version is a new soname, and only that is."""
    assert "-soname=libreach.so." + version.split(".")[0] in (TOP / "mk" / "build.mk").read_text()


def test_installed_files(version, tmp_path):
    """pkg-config and every other installed text that names a version of libreach names this one."""
    run("make", "-s", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    folder = next(tmp_path.glob("**/pkgconfig"))
    assert run("pkg-config", "--modversion", "libreach",
               env={"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/bin:/bin"}).strip() == version
    for path in tmp_path.glob("**/cmake/**/*[Vv]ersion*.cmake"):
        assert re.search(rf'PACKAGE_VERSION "?{re.escape(version)}"?', path.read_text()), path.name
    # What is installed as real file name, not as a link, carries no other version.
    for path in tmp_path.glob("**/libreach.so.*"):
        assert path.name in ("libreach.so.1", f"libreach.so.{version}")


def test_uninstalled_pkg_config(version):
    said = run("pkg-config", "--modversion", "libreach-uninstalled",
               env={"PKG_CONFIG_PATH": str(TOP / "pkgconfig") + ":" + str(TOP / "build"), "PATH": "/usr/bin:/bin"})
    assert said.strip() == version


def test_man_pages(version):
    """A page that names a version of libreach names this one."""
    pages = sorted((TOP / "man").glob("*.[1-9]"))
    assert pages
    for page in pages:
        for found in re.findall(r"libreach[ -](\d+\.\d+\.\d+)", page.read_text()):
            assert found == version, page.name


def test_changelog(version):
    top = re.search(r"^## \[?(\d+\.\d+\.\d+|Unreleased)", (TOP / "CHANGELOG.md").read_text(), re.M)
    assert top, "CHANGELOG.md has no entry"
    assert top.group(1) == version


def test_debian_changelog(version):
    path = TOP / "debian" / "changelog"
    if path.exists():
        first = path.read_text().split("\n")[0]
        assert re.match(rf"libreach \({re.escape(version)}(-[^)]*)?\) ", first), first
