# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
"""The report of the benchmarks, which people read: what it says of a goal has to make sense."""

import importlib.util
import sys

import pytest

from conftest import TOP

SPEC = importlib.util.spec_from_file_location("report", TOP / "Tests" / "Benchmarks" / "report.py")


@pytest.mark.parametrize("value, limit, unit, said", [
    (1.2, 1.3, "ratio", ("reached", "1.20, at most 1.30")),
    (1.302, 1.3, "ratio", ("MISSED", "1.302, at most 1.300")),
    (1.53, 1.5, "ratio", ("MISSED", "1.53, at most 1.50")),
    (1.3, 1.3, "ratio", ("reached", "1.30, at most 1.30")),
    (73_600, 73_000, "ns", ("MISSED", "73.6 µs, at most 73 µs")),
    (20_200.25, 20_200, "ns", ("MISSED", "20,200.250 ns, at most 20,200.000 ns")),
    (131_073, 131_072, "B", ("MISSED", "131,073.000 B, at most 131,072.000 B")),
])
def test_a_missed_goal_shows_by_how_much(monkeypatch, value, limit, unit, said):
    monkeypatch.setitem(sys.modules, "report", report := importlib.util.module_from_spec(SPEC))
    SPEC.loader.exec_module(report)
    goals = report.Goals({})
    goals.goal("goal", value, limit, unit)
    verdict, text = said
    assert goals.lines == [(verdict, f"goal: {text}")]
