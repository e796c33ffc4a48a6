"""The equations of fernandez2000, Fig. 1 to 4, and the page; the paper is computed once."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import ytheta as yt
from ytheta.papers import fernandez2000 as equations
from ytheta.papers.exhibit import PaperReproduction, State
from ytheta.report.figure import draw_plot, figure_to_json
from ytheta.report.papers import paper_html

YES, MISPRINT, NO, OPEN = State
MISPRINTS = {
    "(23), in (24)",
    "block of the column in (25)",
    "range of s in (25)",
    "B_hil of (40)",
    "size of Y_S by (25), n = 6",
}


def find_numbers(text: object) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", str(text))]


def test_figures_and_page() -> None:
    paper: PaperReproduction = yt.reproduce("fernandez2000")["fernandez2000"]
    rows = {row.name: row for k in range(1, 5) for row in paper[f"figure_{k}"].comparisons}
    assert {row.state for row in rows.values()} == {OPEN}  # robot, trajectory and initial estimate are not printed
    assert len(rows) == 4
    for quantity in ("positions", "velocities", "accelerations"):
        start, late, end = find_numbers(rows[f"{quantity} follow their references"].ytheta)[:3]
        assert late < 0.5 * start
        assert end < 0.1 * start
    titles = [plot.title for exhibit in paper.exhibits for plot in exhibit.plots]
    assert [title[:6] for title in titles if title.startswith("Fig.")] == [f"Fig. {k}" for k in (1, 2, 3, 4, 4)]
    positions = rows["positions follow their references"]
    assert find_numbers(positions.note)[0] > 20.0 * find_numbers(positions.ytheta)[1]  # without adaptation
    (V,) = [plot.lines[0].y for plot in paper["figure_4"].plots if plot.title == "Lyapunov function"]
    assert (np.diff(V) <= 0.0).all()
    first, last = find_numbers(rows["inertial parameters converge"].ytheta)[:2]
    assert first == 50.0
    assert last < 2.0
    page = paper_html(paper)
    assert "only the kind of result is compared" in page
    for exhibit in paper.exhibits:
        for plot in exhibit.plots:
            assert figure_to_json(draw_plot(plot)) in page, plot.title


def test_equations() -> None:
    exhibits = equations.compare_equations()
    rows = {row.name: row for exhibit in exhibits for row in exhibit.comparisons}
    assert {name for name, row in rows.items() if row.state is MISPRINT} == MISPRINTS
    assert {name for name, row in rows.items() if row.state is OPEN} == {"multiplications / additions"}
    assert len(rows) == 18
    assert rows["16 n columns, n = 6"].ytheta == 96
    assert rows["10 n different parameters, n = 6"].ytheta == 60
    assert rows["(23), in (24)"].ytheta == "-[gᵀ U_1i … gᵀ U_ii 0 … 0]ᵀ"
    assert rows["B_hil of (40)"].ytheta == "Σ_j Σ_k (U_il ⊗ U_kjl) q̇_j v_k"
    assert rows["block of the column in (25)"].ytheta == "that of the link"
    assert rows["range of s in (25)"].ytheta == "r:4"


@pytest.mark.parametrize("part", ["Y_D", "Y_H", "Y_c"])
def test_a_wrong_part_of_the_regressor_is_noticed(part: str) -> None:
    """The twin of the comparisons above: one part is 1 % too large."""
    arm = equations.Arm.draw(yt.load("lu-puma4")).with_own_velocity
    right = {row.name: row.state for row in equations._compare_torque(arm)}
    wrong = replace(arm)
    wrong.__dict__[part] = 1.01 * getattr(arm, part)
    spoiled = {row.name: row.state for row in equations._compare_torque(wrong)}
    changed = {name for name in right if right[name] is YES and spoiled[name] is NO}
    assert changed == {
        {"Y_D": "(11): Y_D θ_D = D q̈", "Y_H": "(14): Y_H θ_D = h", "Y_c": "(18): Y_c θ_c = c"}[part],
        "(24): (Y_D + Y_H + Y_c) θ = τ",
    }
    assert np.isfinite(arm.torque).all()
