"""A design in a terminal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.support.designed_motion import design_motion, design_two_link
from ytheta.excitation.limit_check import LimitUse
from ytheta.report.excitation import print_excitation
from ytheta.report.numbers import format_plain
from ytheta.report.terminal import render_text


def test_the_text_states_columns_scaling_friction_and_speed() -> None:
    excitation = design_motion()
    text = " ".join(str(excitation).split())
    plain, scaled = format_plain(excitation.condition_number, 4), format_plain(excitation.scaled_condition_number, 4)
    assert f"condition number of W_b: {plain} with columns in SI units, {scaled} with columns scaled" in text
    assert f"({len(excitation.base)} base parameters, 8 of them friction, unweighted rows, full speed)" in text
    assert f"{format_plain(excitation.slowed[0].condition_number)} and" in text
    assert "at 50 %" in text
    checked = "All limits that were checked are kept, between samples too. Not checked: self-collision; a floor."
    assert text.endswith(f"{checked} Run it at 25 % of the speed first.")
    assert "8 of them friction" not in str(design_two_link())


def test_all_parameters_are_listed_on_request() -> None:
    excitation = design_motion()
    short = str(excitation)
    full = render_text(lambda console: print_excitation(console, excitation, verbose=True))
    assert all(name in full for name in excitation.base.names)
    assert not all(name in short for name in excitation.base.names)
    assert "all: --verbose" in short


def test_a_violation_is_the_last_word() -> None:
    excitation = design_two_link()
    uses = (
        LimitUse("velocity", "joint1", 2.5, 2.0, 1.0, 1.25, violated=True),
        LimitUse("clearance", "link2 above floor", 0.02, 0.0, 3.5, np.nan, violated=False),
        *excitation.uses[1:],
    )
    text = str(replace(excitation, uses=uses))
    assert "velocity of joint1: 2.5 exceeds 2 at t = 1 s" in text
    assert "link2 above floor" in text
    assert text.endswith("1 limit is exceeded: do not run this motion.")


def test_described_zeros_have_no_relative_deviation() -> None:
    excitation = design_motion()
    rows = {row["name"]: row for row in excitation.to_dict()["parameters"]}
    assert rows["joint1.fv"]["value"] == 0.0
    assert rows["joint1.fv"]["std_percent"] is None
    value, std = rows["link2.mx*"]["value"], rows["link2.mx*"]["std"]
    assert rows["link2.mx*"]["std_percent"] == abs(100.0 * std / value)
