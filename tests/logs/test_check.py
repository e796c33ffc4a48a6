"""``check``: columns with their conversions, ranges and plausibility; refused logs are reported, not raised."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ytheta
from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, format_csv, make_log, name_columns, write_file
from ytheta.errors import InputError
from ytheta.logs.check import CheckedLog, check
from ytheta.robot.parts import Limits

LIMITS = Limits(lower=-3.0, upper=3.0, velocity=10.0, effort=50.0)


def limited(limits: Limits = LIMITS) -> Any:
    """The arm with the same limits of both joints."""
    return replace(ARM, joints=tuple(replace(joint, limits=limits) for joint in ARM.joints))


def check_table(columns: dict[str, np.ndarray], robot: Any = None, **options: Any) -> CheckedLog:
    (checked,) = check(robot or limited(), columns, **options).logs
    return checked


def list_doubtful(checked: CheckedLog) -> list[str]:
    return [column.origin.column for column in checked.columns if not column.is_plausible]


def test_ranges_and_origins_are_those_of_the_columns() -> None:
    checked = check_table(ARM_COLUMNS)
    assert list_doubtful(checked) == []
    assert [column.origin.column for column in checked.columns] == list(ARM_COLUMNS)
    for column in checked.columns:
        values = ARM_COLUMNS[column.origin.column]
        assert (column.lowest, column.highest) == (values.min(), values.max())
    share = 100 * np.abs(ARM_COLUMNS["tau2"]).max() / 50.0
    assert checked.columns[-1].remark == f"{share:.3g} % of the limit 50"


@pytest.mark.parametrize(
    ("change", "doubtful"),
    [
        ({"q1": ARM_COLUMNS["q1"] + 3.0}, ["q1"]),
        ({"qd2": 1.1 * ARM_COLUMNS["qd2"]}, ["qd2"]),
        ({"qd1": ARM_COLUMNS["qd2"], "qd2": ARM_COLUMNS["qd1"]}, ["qd1", "qd2"]),
        ({"tau1": 15.0 * ARM_COLUMNS["tau1"]}, ["tau1"]),
        ({"tau2": np.ones(150)}, ["tau2"]),
        ({"q2": 1e-4 * ARM_COLUMNS["q2"], "qd2": 1e-4 * ARM_COLUMNS["qd2"]}, ["q2"]),
    ],
)
def test_implausible_columns_are_doubtful(change: dict[str, np.ndarray], doubtful: list[str]) -> None:
    assert list_doubtful(check_table(ARM_COLUMNS | change)) == doubtful


def test_velocities_above_their_limit_are_doubtful() -> None:
    highest = float(np.abs(ARM_COLUMNS["qd1"]).max())
    assert list_doubtful(check_table(ARM_COLUMNS, limited(replace(LIMITS, velocity=0.9 * highest))))[0] == "qd1"
    assert list_doubtful(check_table(ARM_COLUMNS, limited(replace(LIMITS, velocity=1.01 * highest)))) == []


def test_a_refused_log_is_reported_with_its_columns() -> None:
    result = check(ARM, {name: np.degrees(v) if name[:2] in ("q1", "q2") else v for name, v in ARM_COLUMNS.items()})
    assert not result.accepted
    (checked,) = result.logs
    assert "degrees" in checked.refusal
    assert len(checked.columns) == 7
    assert len(checked.log) == 150
    assert result.to_dict()["logs"][0]["accepted"] is False
    assert "refused: " in str(result)
    assert check(ARM, ARM_COLUMNS).accepted  # the twin


def test_conversions_and_what_was_left_out(tmp_path: Path) -> None:
    robot = ytheta.load("ur10")
    columns = {name.replace("tau", "i"): values for name, values in name_columns(make_log(robot, rows=400)).items()}
    path = write_file(tmp_path, format_csv(columns | {"mode": columns["t"]}))
    (checked,) = check(robot, path, gain=range(1, 7), rows=(100, 300)).logs
    origin = checked.log.origin
    assert origin is not None
    assert (origin.rows, origin.first, origin.stop, origin.unused) == (400, 100, 300, ("mode",))
    gains = [column.origin.gain for column in checked.columns if column.origin.quantity == "tau"]
    assert gains == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert [column.origin.joint for column in checked.columns][1:7] == list(robot.actuated)
    text = str(check(robot, path, gain=range(1, 7), rows=(100, 300)))
    for words in ("× 6 Nm/A", "rows 100:300 of 400 were chosen", "columns not used: mode", "position over time"):
        assert words in text


def test_wrong_arguments_get_one_sentence() -> None:
    with pytest.raises(InputError, match="there is no log to check"):
        check(ARM, [])
    with pytest.raises(InputError, match="was checked when it was read"):
        check(ARM, ARM_LOG)
    with pytest.raises(InputError, match="2 mappings for 1 logs"):
        check(ARM, ARM_COLUMNS, mapping=[{}, {}])


def test_a_log_that_cannot_be_read_is_listed(tmp_path: Path) -> None:
    result = check(ARM, [{"t": ARM_LOG.t}, ARM_COLUMNS])
    assert not result.accepted
    assert len(result.logs) == 1
    assert [log.source for log in result.unreadable] == ["dict"]
    assert "no columns q1 … q2" in result.unreadable[0].refusal
    with pytest.raises(InputError, match="does not exist"):  # the twins: errors of the caller
        check(ARM, tmp_path / "absent.csv")
    with pytest.raises(InputError, match="cannot be read from a value of type int"):
        check(ARM, [42])  # type: ignore[list-item]
    with pytest.raises(InputError, match="rate is"):
        check(ARM, {"t": ARM_LOG.t}, rate=-1.0)


@pytest.mark.parametrize("t", [np.zeros(600), np.full(600, np.nan), 1e-320 * np.arange(600), 1e300 * np.arange(600)])
@pytest.mark.filterwarnings("error")
def test_times_that_stand_still_or_are_not_finite_are_shown(t: np.ndarray) -> None:
    """A log is refused with a reason, not with an internal error; its columns are shown."""
    x = np.arange(600) / 100.0
    table = {"t": t, "q1": np.sin(x), "q2": np.cos(x), "qd1": np.cos(x), "qd2": -np.sin(x), "tau1": x, "tau2": x * x}
    checked = check(ytheta.load("lu-two-link"), table)
    assert not checked.accepted
    assert "refused" in str(checked)
    assert checked.to_dict()["logs"][0]["columns"][0]["quantity"] == "t"
