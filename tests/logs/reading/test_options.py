"""Options of reading give the same log as a mapping; contradictions and wrong values get one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_same_log, format_csv, write_file
from ytheta.errors import InputError
from ytheta.logs.reading.read import read_log

DEGREES = {name: np.degrees(values) if name.startswith("q") else values for name, values in ARM_COLUMNS.items()}
CURRENTS = {name.replace("tau", "i"): values for name, values in ARM_COLUMNS.items()}
WITHOUT_TIME = {name: values for name, values in ARM_COLUMNS.items() if name != "t"}
CASES: list[tuple[dict[str, np.ndarray], dict[str, Any], dict[str, Any]]] = [
    (DEGREES, {"degrees": True}, {"scale": {"q": "degrees", "qd": "degrees"}}),
    (ARM_COLUMNS, {"rows": (20, 120)}, {"rows": [20, 120]}),
    (ARM_COLUMNS, {"rows": (None, 120)}, {"rows": [0, 120]}),
    (ARM_COLUMNS, {"rows": (30, None)}, {"rows": [30, 150]}),
    (WITHOUT_TIME, {"rate": 100.0}, {"rate": 100.0}),
    (CURRENTS, {"gain": 2.5}, {"columns": {"current": "i{}"}, "gain": {"current": 2.5}}),
    (CURRENTS, {"gain": [2.0, 3.0]}, {"columns": {"current": "i{}"}, "gain": {"current": [2.0, 3.0]}}),
    (CURRENTS, {"gain": {"joint2": 3.0, "joint1": 2.0}}, {"columns": {"current": "i{}"}, "gain": {"current": [2, 3]}}),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_options_and_mappings_agree(case: int, tmp_path: Path) -> None:
    columns, options, mapping = CASES[case]
    path = write_file(tmp_path, format_csv(columns))
    assert_same_log(read_log(path, ARM, **options), read_log(path, ARM, mapping=mapping))


def test_an_option_changes_the_log(tmp_path: Path) -> None:
    """The twin: with other values, the logs differ."""
    path = write_file(tmp_path, format_csv(ARM_COLUMNS))
    for options in ({"degrees": True}, {"rows": (1, None)}, {"rate": 99.0}):
        with pytest.raises(AssertionError):
            assert_same_log(read_log(path, ARM, **options), ARM_LOG)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": (5, 2)}, "rows = (5, 2) is empty"),
        ({"rows": 5}, "rows is 5; give (start, stop)"),
        ({"rows": (0, 10**6)}, "goes beyond the 150 rows"),
        ({"rows": (-1, 3)}, "rows is -1"),
        ({"rate": 0.0}, "rate is 0"),
        ({"rate": float("nan")}, "rate is nan"),
        ({"gain": [1.0, 2.0, 3.0]}, "gain has 3 numbers, but the robot has 2"),
        ({"gain": {"joint1": 1.0}}, "no gain of joint2"),
        ({"gain": {"joint1": 1.0, "elbow": 1.0}}, "no actuated coordinate 'elbow'"),
        ({"gain": 0.0}, "gain is 0"),
        ({"gain": "x"}, "gain is 'x'"),
        ({"topic": "/joint_states"}, "has none; it is for bags"),
        ({"rate": 5.0, "mapping": {"columns": {"t": "t"}}}, "rate is given, but mapping contains"),
        ({"degrees": True, "mapping": {"scale": {"q": "rad"}}}, "contains [scale] too"),
        ({"rows": (1, 9), "mapping": {"rows": [1, 8]}}, "contains rows too"),
    ],
)
def test_wrong_options_get_one_sentence(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_log(write_file(tmp_path, format_csv(ARM_COLUMNS)), ARM, **options)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_log_that_was_read_takes_no_options() -> None:
    with pytest.raises(InputError, match="remove degrees, or give the file"):
        read_log(ARM_LOG, ARM, degrees=True)


def test_rows_beyond_the_end_name_their_origin() -> None:
    with pytest.raises(InputError, match=r"^--rows 200: goes beyond the 150 rows of dict"):
        read_log(ARM_COLUMNS, ARM, rows=(200, None))
    with pytest.raises(InputError, match=r"^mapping: 'rows' = \[100, 151\] goes beyond the 150 rows of dict"):
        read_log(ARM_COLUMNS, ARM, mapping={"rows": [100, 151]})
    assert len(read_log(ARM_COLUMNS, ARM, rows=(100, 150))) == 50  # the twin
