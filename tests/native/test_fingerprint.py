"""Fingerprints: every part of a value counts, equal values agree across processes, sources are read from the disk."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.forced_robots import CABLE, with_forces
from tests.support.motor_robots import COUPLED
from ytheta.findings import Finding, Severity
from ytheta.native import fingerprint as module
from ytheta.native.fingerprint import fingerprint, fingerprint_sources
from ytheta.robot.parts import Coupling, Drive, Force, Joint, Limits, Link, Loop, Marker, Motor
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot

NOT_COMPARED = ((Robot, "findings"), (Robot, "collision"))
PARTS = (Robot, Link, Joint, Limits, Drive, Loop, Coupling, Motor, Force, Marker)


def set_field(value: Any, name: str, new: Any) -> Any:
    """A copy of a dataclass with another value of one field, without the checks of its constructor."""
    copy = object.__new__(type(value))
    for each in fields(value):
        object.__setattr__(copy, each.name, new if each.name == name else getattr(value, each.name))
    return copy


def change_each_part(value: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the value with one part changed as little as possible, and the path to that part: classes and fields."""
    if is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            for path, changed in change_each_part(getattr(value, each.name)):
                yield ((type(value), each.name), *path), set_field(value, each.name, changed)
    elif isinstance(value, tuple):
        yield (), (*value, value[0] if value else None)
        for k, entry in enumerate(value):
            for path, changed in change_each_part(entry):
                yield path, (*value[:k], changed, *value[k + 1 :])
    elif isinstance(value, Enum):
        yield (), next(each for each in type(value) if each is not value)
    elif isinstance(value, bool):
        yield (), not value
    elif isinstance(value, str):
        yield (), value + " "
    elif not isinstance(value, dict):
        yield (), 1.0 if value is None else -value if value == 0.0 else math.nextafter(value, 0.0)


def test_every_field_of_a_robot_counts() -> None:
    """Found by walking over the fields, so that a new field cannot be forgotten."""
    tried = set()
    for robot in (load("palletiser"), with_forces(COUPLED, CABLE)):
        known = {fingerprint(robot)}
        for path, changed in change_each_part(robot):
            if path not in tried:  # one part of many alike, such as the first inertia of the first link
                tried.add(path)
                changed_fingerprint = fingerprint(changed)
                assert (changed_fingerprint in known) == (path[0] in NOT_COMPARED), path
                known.add(changed_fingerprint)
    reached = {step for path in tried for step in path}
    assert reached >= {(part, each.name) for part in PARTS for each in fields(part)}


def test_findings_do_not_count() -> None:
    robot = load("ur10")
    noted = replace(robot, findings=(Finding("code", Severity.NOTE, "statement", "remedy"),))
    assert fingerprint(noted) == fingerprint(robot) != fingerprint(replace(robot, name="ur"))


def test_equal_robots_agree_in_every_process() -> None:
    code = "import ytheta; from ytheta.native.fingerprint import fingerprint; print(fingerprint(ytheta.load('walker')))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert answers == {fingerprint(load("walker"))}


@dataclass(frozen=True)
class _Pair:
    first: Any
    second: Any = field(default=None, compare=False)


def test_values_of_other_kinds_differ() -> None:
    values: list[Any] = [
        0,
        0.0,
        -0.0,
        False,
        None,
        "0",
        "",
        (),
        ("",),
        ("", ""),
        ("a", "b"),
        ("ab",),
        (("a",), "b"),
        _Pair(0),
    ]
    values += [math.nan, math.inf, np.zeros(2), np.zeros((2, 1)), np.zeros(2, dtype=int), np.array([0.0, -0.0])]
    values += [np.array([1, "a"], dtype=object), {"a": 1}, {"b": 1}, "text 1 a\ntext 1 b", Severity.NOTE]
    values += [Severity.NOTE.value]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint(_Pair(1, 2)) == fingerprint(_Pair(1, 3))
    assert fingerprint(["a", 1]) == fingerprint(("a", 1))
    values = [np.float64(0.0), np.float32(0.0), np.int64(0), np.True_, Fraction(0), Fraction(1, 3), "\udc80"]
    assert len({fingerprint(value) for value in (*values, 0, 0.0, False)}) == len(values) + 3
    for unknown in (object(), b"bytes", _Pair(lambda: 0), _Pair):
        with pytest.raises(TypeError, match="no fingerprint"):
            fingerprint(unknown)


def test_sources_count_by_content_and_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compute() -> str | None:
        module._list_sources.cache_clear()
        return fingerprint_sources("a", "c.py")

    monkeypatch.setattr(module, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(ytheta, "IMPORT_TIME", time.time() + 100.0)
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("a/x.py", "a/b/y.py", "c.py", "other.py"):
        (tmp_path / name).write_text(name)
    first = compute()
    (tmp_path / "other.py").write_text("not asked for")
    (tmp_path / "a" / "x.pyc").write_text("not a source")
    assert compute() == first is not None
    (tmp_path / "a" / "b" / "y.py").write_text("changed")
    second = compute()
    (tmp_path / "a" / "b" / "y.py").rename(tmp_path / "a" / "b" / "z.py")
    assert len({first, second, compute()}) == 3


def test_sources_that_changed_after_the_start_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fingerprint would describe sources that this process does not run."""
    monkeypatch.setattr(module, "PACKAGE", str(tmp_path))
    assert fingerprint_sources("a.py") is None  # installed without sources
    module._list_sources.cache_clear()
    (tmp_path / "a.py").write_text("x")
    assert fingerprint_sources("a.py") is None
    os.utime(tmp_path / "a.py", (1e9, 1e9))  # as a copy that keeps the time of another file
    assert fingerprint_sources("a.py") is None
    monkeypatch.setattr(ytheta, "IMPORT_TIME", time.time() + 0.5)
    assert fingerprint_sources("a.py") is None  # within the resolution of file systems
    monkeypatch.setattr(ytheta, "IMPORT_TIME", time.time() + 2.0)
    assert fingerprint_sources("a.py") is not None


def test_a_change_is_noticed_by_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(ytheta, "IMPORT_TIME", time.time() + 100.0)
    (tmp_path / "b.py").write_text("x")
    first = fingerprint_sources("b.py")
    (tmp_path / "b.py").write_text("longer")
    assert first != fingerprint_sources("b.py") is not None
    (tmp_path / "b.py").unlink()
    assert fingerprint_sources("b.py") is None
