# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The build itself: silent but for its commands, and giving the same bytes each time."""

import hashlib
import shutil

import pytest

from conftest import BUILD, TOP, run


@pytest.fixture(scope="module")
def again():
    """A second build from scratch beside the first."""
    folder = BUILD / "checks" / "again"
    shutil.rmtree(folder, ignore_errors=True)
    said = run("sh", "-c", f"make lib BUILD='{folder.relative_to(TOP)}' 2>&1")
    yield folder, said
    shutil.rmtree(folder)


def test_no_warnings(again):
    lines = [line for line in again[1].splitlines() if "warning:" in line.lower() or "error:" in line.lower()]
    assert lines == []


def test_same_bytes_again(again, library):
    """Whoever builds the same source gets the same library, so that a shipped one can be checked."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (library, again[0] / "libreach.so.1")]
    assert digests[0] == digests[1]
