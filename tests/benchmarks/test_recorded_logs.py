"""The recorded robots of the benchmarks: the same extensions as in the tests, and robots that are missing."""

from __future__ import annotations

from pathlib import Path

from benchmarks import recorded_logs
from tests.support import vendor_robots


def test_extensions_are_those_of_the_tests() -> None:
    for name in ("TX40", "KR300", "MTM"):
        assert getattr(recorded_logs, name) == getattr(vendor_robots, name)


def test_a_robot_without_logs_is_left_out(tmp_path: Path) -> None:
    assert recorded_logs.load_recorded_robot("Panda", tmp_path) is None


def test_an_extended_robot_is_loaded(shared_data: Path) -> None:
    robot = recorded_logs.load_recorded_robot("TX40", shared_data)
    assert robot is not None
    assert [motor.name for motor in robot.motors] == ["motor_6"]
