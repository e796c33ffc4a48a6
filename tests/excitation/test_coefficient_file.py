"""Coefficients as TOML: read again to the last digit, re-timed, and refused if damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.designed_motion import design_two_link
from ytheta.errors import InputError


@pytest.mark.parametrize("parametrisation", ["fourier", "b-spline"])
def test_a_trajectory_is_read_to_the_last_digit(tmp_path: Path, parametrisation: str) -> None:
    trajectory = design_two_link(parametrisation).trajectory
    again = yt.load_trajectory(yt.save_trajectory(trajectory, tmp_path / "motion.toml"))
    assert again.joints == trajectory.joints
    assert again.basis == trajectory.basis
    assert again.periods == trajectory.periods
    np.testing.assert_array_equal(again.coefficients, trajectory.coefficients)


def test_a_slowed_trajectory_passes_the_same_path(tmp_path: Path) -> None:
    trajectory = design_two_link().trajectory
    slow = yt.load_trajectory(yt.save_trajectory(trajectory.slow_down(4.0), tmp_path / "slow.toml"))
    t = np.linspace(0.0, trajectory.seconds, 50)
    fast = trajectory.evaluate(t)
    slowed = slow.evaluate(4.0 * t)
    assert slow.seconds == 4.0 * trajectory.seconds
    np.testing.assert_allclose(slowed.q, fast.q, atol=1e-9)
    np.testing.assert_allclose(slowed.qd, fast.qd / 4.0, atol=1e-9)
    np.testing.assert_allclose(slowed.qdd, fast.qdd / 16.0, atol=1e-9)
    assert abs(slowed.qd - fast.qd).max() > 0.1  # the twin


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "format = 2", "format is 2"),
        ("format = 1", "", "'format' is missing"),
        ("format = 1", "format = true", "format is True"),
        ("format = 1", "format = 1.0", r"format is 1\.0"),
        ("periods = 2", "periods = 0", "periods is 0"),
        (
            "periods = 2",
            f"periods = {10**400}",
            "periods is an integer of more than 38 digits; give a whole number from 1",
        ),
        ("period = 10.0", f"period = {10**400}", "period is an integer of more than 38 digits; give a positive number"),
        ("period = 10.0", "period = 1e-300", "period is 1e-300"),
        ("period = 10.0", "period = 1e300", r"period is 1e\+300"),
        ("periods = 2", "periods = 2.5", "periods is 2.5"),
        ("period = 10.0", "period = -1.0", "period is -1"),
        ("period = 10.0", "period = nan", "period is nan"),
        ('"fourier"', '"wavelet"', "parametrisation is 'wavelet'"),
        ('"fourier"', '"b-spline"', "does not start at rest"),
        ('"joint2" = [', '"joint3" = [', "one list for each of joint1, joint2"),
        ('"joint2" = [', '"joint2" = [1.0, ', "lists of equal length"),
        ('"joint2" = [', '"joint2" = ["a", 1.0, ', "lists of equal length"),
        ('joints = ["joint1", "joint2"]', 'joints = ["joint1", "joint1"]', "occurs twice"),
        ("[coefficients]", "speed = 1\n[coefficients]", "'speed' is unknown"),
        ("[coefficients]", "[coefficients", "not valid TOML"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = yt.save_trajectory(design_two_link().trajectory, tmp_path / "motion.toml")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=words):
        yt.load_trajectory(path)


@pytest.mark.parametrize("value", ["1e308", "-1e308", "inf", "nan", "true", str(10**400)])
def test_implausible_coefficients_are_refused(tmp_path: Path, value: str) -> None:
    path = yt.save_trajectory(design_two_link().trajectory, tmp_path / "motion.toml")
    *lines, last = path.read_text().splitlines()
    name, _, numbers = last.partition(" = ")
    rest = numbers.strip("[]").split(", ")[1:]
    path.write_text("\n".join([*lines, f"{name} = [0.25, {', '.join(rest)}]"]))
    assert yt.load_trajectory(path).coefficients[0, 1] == 0.25  # a shift does not disturb the rest at the start
    path.write_text("\n".join([*lines, f"{name} = [{value}, {', '.join(rest)}]"]))
    with pytest.raises(InputError, match=r"a coefficient of 'joint2' is .*; give a finite number") as caught:
        yt.load_trajectory(path)
    assert len(str(caught.value)) < 300


def test_names_of_all_characters_are_kept(tmp_path: Path) -> None:
    names = ('a\x7f"\\', "é\u2028\U0001f600\n")
    trajectory = replace(design_two_link().trajectory, joints=names)
    path = yt.save_trajectory(trajectory, tmp_path / "motion.toml")
    assert yt.load_trajectory(path).joints == names
    assert b"\x7f" not in path.read_bytes()
    yaml = pytest.importorskip("yaml")
    message = yaml.safe_load(yt.save_trajectory(trajectory, tmp_path / "motion.yaml").read_bytes())
    assert tuple(message["joint_names"]) == names


def test_a_changed_coefficient_is_noticed(tmp_path: Path) -> None:
    path = yt.save_trajectory(design_two_link().trajectory, tmp_path / "motion.toml")
    *lines, last = path.read_text().splitlines()
    name, _, numbers = last.partition(" = ")
    values = numbers.strip("[]").split(", ")
    values[3] = str(float(values[3]) + 0.01)
    path.write_text("\n".join([*lines, f"{name} = [{', '.join(values)}]"]))
    with pytest.raises(InputError, match="'joint2' does not start at rest"):
        yt.load_trajectory(path)


def test_what_is_no_trajectory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"name the \.toml file"):
        yt.load_trajectory(tmp_path / "motion.csv")
    with pytest.raises(InputError, match="does not exist"):
        yt.load_trajectory(tmp_path / "motion.toml")
    yt.save_robot(yt.load("lu-two-link"), tmp_path / "robot.toml")
    with pytest.raises(InputError, match="not a trajectory"):
        yt.load_trajectory(tmp_path / "robot.toml")
