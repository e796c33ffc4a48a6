"""Numbers at the edge of what a float can hold: a right answer, or one sentence. Warnings count as failures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.log_files import ARM, make_log, name_columns
from tests.support.mjcf_models import mechanism_text
from tests.support.urdf_arm import ARM as URDF
from ytheta.errors import InputError
from ytheta.robot.robot import Robot

COLUMNS = name_columns(make_log(ARM, rows=600))
TINY, HUGE = ("5e-324", "1e-310", "1e-160"), ("1e150", "1e200", "1e300", "1.7e308")
PLACES = {  # of a number in a URDF
    "mass": ('value="2"', 'value="{}"'),
    "centre": ('<mass value="2"/>', '<origin xyz="{} 0 0"/><mass value="2"/>'),
    "inertia": ('izz="1"', 'izz="{}"'),
    "position": ("<axis", '<origin xyz="{} 0 0"/><axis'),
    "angle": ("<axis", '<origin rpy="{} 0 0"/><axis'),
}


def load_text(folder: Path, text: str, name: str) -> Robot:
    (folder / name).write_text(text)
    return yt.load(folder / name)


def compute_torque(robot: Robot, q: float = 0.0) -> Any:
    one = np.ones((1, len(robot.actuated)))
    return yt.inverse_dynamics(robot)(q * one, one, one)


def read_with(**columns: Any) -> yt.Log:
    return yt.read_log(COLUMNS | columns, ARM)


@pytest.mark.parametrize("place", PLACES)
def test_tiny_numbers_of_a_robot_act_like_zero(place: str, tmp_path: Path) -> None:
    old, new = PLACES[place]
    zero = compute_torque(load_text(tmp_path, URDF.replace(old, new.format(0)), "zero.urdf"))
    for number in TINY:
        robot = load_text(tmp_path, URDF.replace(old, new.format(number)), "tiny.urdf")
        np.testing.assert_allclose(compute_torque(robot), zero, rtol=0.0, atol=1e-100)
        assert yt.base_parameters(robot).names == ("upper.Izz",)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", HUGE)
def test_huge_numbers_of_a_robot_are_refused(place: str, number: str, tmp_path: Path) -> None:
    old, new = PLACES[place]
    with pytest.raises(InputError, match=r"too large to compute with|not finite|larger than 1e\+06 rad"):
        load_text(tmp_path, URDF.replace(old, new.format(number)), "huge.urdf")


@pytest.mark.parametrize("length", [1e300, -1e60])
def test_huge_symbolic_lengths_are_refused(length: float) -> None:
    with pytest.raises(InputError, match=r"the length 'l1' is .*too large to compute with; give numbers in metres"):
        yt.load("lu-two-link").with_lengths(l1=length)


@pytest.mark.parametrize("number", ["1e200", "-1e300"])
def test_huge_positions_in_a_loop_are_refused(number: str, tmp_path: Path) -> None:
    loop = mechanism_text('<connect site1="tip" site2="end"/>')
    assert load_text(tmp_path, loop, "loop.xml").loops
    for old in ('pos="1 0 0"', 'pos="0.5 0.1 0"'):
        with pytest.raises(InputError, match=r"too large to compute with; give numbers in metres"):
            load_text(tmp_path, loop.replace(old, f'pos="{number} 0 0"'), "huge.xml")


def test_a_robot_without_mass_has_no_torque(tmp_path: Path) -> None:
    empty = URDF.replace('value="2"', 'value="0"').replace('="1" ', '="0" ').replace('izz="1"', 'izz="0"')
    assert (compute_torque(load_text(tmp_path, empty, "empty.urdf")) == 0.0).all()
    assert (compute_torque(load_text(tmp_path, URDF, "full.urdf")) == 1.0).all()  # the twin


def test_a_robot_in_millimetres_scales(tmp_path: Path) -> None:
    """Lengths that are 1000 times too large are computed with: a pendulum has 1000 times the torque of gravity."""
    pendulum = URDF.replace('<mass value="2"/>', '<origin xyz="{} 0 0"/><mass value="2"/>').replace("0 0 1", "0 1 0")
    arms = [load_text(tmp_path, pendulum.format(length), "arm.urdf") for length in ("0.3", "300")]
    zero = np.zeros((1, 1))
    metres, millimetres = (float(yt.inverse_dynamics(arm)(zero, zero, zero)[0, 0]) for arm in arms)
    assert abs(metres) == pytest.approx(2.0 * 9.81 * 0.3)
    assert millimetres == pytest.approx(1000.0 * metres)


def test_positions_of_a_million_turns_are_periodic() -> None:
    """An angle of 1e6 rad still has ten digits."""
    turns = 2.0 * np.pi * 159_155
    q = 0.3 * np.ones((1, 2))
    kernel = yt.inverse_dynamics(ARM)
    np.testing.assert_allclose(kernel(q + turns, q, q), kernel(q, q, q), rtol=1e-8)
    assert abs(kernel(q + turns + 0.1, q, q) - kernel(q, q, q)).max() > 0.1  # the twin
    with pytest.raises(InputError, match="is more than 100 rad or m from home, too far for the closure of the loops"):
        compute_torque(yt.load("five-bar"), 1e6)


@pytest.mark.parametrize("number", [1e15, -1e150, 1e300, 1.7e308, np.nan, np.inf])
@pytest.mark.parametrize("column", ["q1", "qd1", "tau1", "t"])
def test_single_odd_numbers_of_a_log_are_dropped(column: str, number: float) -> None:
    values = COLUMNS[column].copy()
    values[300] = number
    log = read_with(**{column: values})
    assert 0 < len(COLUMNS["t"]) - len(log) <= 21  # plausible rows between garbage may be dropped, too
    for array in (log.t, log.q, log.qd, log.tau):
        assert array is not None
        assert np.isfinite(array).all()
        assert abs(array).max() < 1e3


@pytest.mark.parametrize("number", [1e9, 1e300, 1.7e308])
def test_a_last_time_that_is_far_away_is_a_gap(number: float) -> None:
    t = COLUMNS["t"].copy()
    t[-1] = number
    assert len(read_with(t=t).segments) == 2


@pytest.mark.parametrize("number", [1e15, 1e300, np.nan, np.inf])
@pytest.mark.parametrize("column", ["q1", "qd1", "tau1", "t"])
def test_columns_of_odd_numbers_are_refused(column: str, number: float) -> None:
    with pytest.raises(InputError, match="is refused"):
        read_with(**{column: np.full(600, number)})


@pytest.mark.parametrize("factor", [1e-310, 1e-200])
def test_torques_that_are_hardly_above_zero_are_zero(factor: float) -> None:
    tiny = {name: factor * COLUMNS[name] for name in ("tau1", "tau2")}
    with pytest.raises(InputError, match="all torques are zero; check that they were recorded"):
        read_with(**tiny)
    log = read_with(tau1=tiny["tau1"])
    assert log.tau is not None
    assert not log.tau[:, 0].any()
    if factor == 1e-310:
        assert yt.identify(ARM, log).verdict.grade.value == "not exciting"


@pytest.mark.parametrize("factor", [1e-310, 1e-13, 1e12, 1e200])
def test_times_that_cannot_be_those_of_samples_are_refused(factor: float) -> None:
    with pytest.raises(InputError, match=r"the median step of time is .* s; choose the column|time stands still"):
        read_with(t=factor * COLUMNS["t"])
    with pytest.raises(InputError, match=r"the median step of time is|time stands still"):
        yt.read_log(COLUMNS, ARM, mapping={"scale": {"t": factor}})


@pytest.mark.parametrize("rate", [5e-324, 1e-308, 1e-7, 1e10, 1e308])
def test_rates_are_bounded(rate: float) -> None:
    columns = {name: values for name, values in COLUMNS.items() if name != "t"}
    with pytest.raises(InputError, match=r"'rate' should be between 1e-06 and 1e\+09 Hz"):
        yt.read_log(columns, ARM, mapping={"rate": rate})
    assert len(yt.read_log(columns, ARM, mapping={"rate": 100.0})) == 600


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1e150, 1.7e308])
def test_strengths_of_priors_are_bounded(value: float) -> None:
    with pytest.raises(InputError, match=r"prior_strength is .*; give a number between 1e-09 and 1e\+09"):
        yt.identify(ARM, COLUMNS, prior_strength=value)


@pytest.mark.parametrize("cutoff", [5e-324, 1e-310, 1e-10])
def test_cutoffs_are_bounded(cutoff: float) -> None:
    with pytest.raises(InputError, match=r"cutoff is .*; give a number of Hz of at least 1e-09"):
        yt.identify(ARM, COLUMNS, cutoff=cutoff)
