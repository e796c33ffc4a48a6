"""Checked logs in a narrow and in a wide terminal: every line fits, and no name or number is shortened."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta
from ytheta.display import find_view

ROBOT = ytheta.load("ur10")
T = np.arange(500) / 100.0
Q = np.stack([0.5 * np.sin((1.0 + 0.1 * k) * T) for k in range(6)], axis=1)


def make_table(*, scale: float = 1.0) -> dict[str, np.ndarray]:
    columns = {"t": T}
    for quantity, values in (("q", scale * Q), ("tau", 20.0 * np.cos(Q))):
        columns |= {f"{quantity}_{joint}": values[:, k] for k, joint in enumerate(ROBOT.actuated)}
    return columns


def render(check: ytheta.LogCheck, width: int) -> list[str]:
    return find_view(check).render_text(check, width=width).splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_lines_fit_and_names_are_whole(width: int) -> None:
    lines = render(ytheta.check(ROBOT, make_table()), width)
    assert max(map(len, lines)) <= width
    for joint in ROBOT.actuated:
        assert sum(joint in line for line in lines) >= 3  # position, torque, picture
    assert not any("…_" in line for line in lines)
    assert any("% of its range" in line for line in lines) == (width == 120)


def test_doubtful_columns_keep_their_remark_in_a_narrow_terminal() -> None:
    check = ytheta.check(ROBOT, make_table(scale=0.01))
    narrow, wide = render(check, 80), render(check, 120)
    assert "doubtful: position elbow_joint (q_elbow_joint): hardly moves" in narrow
    assert any("hardly moves" in line and "elbow_joint" in line for line in wide)
    assert not any(line.startswith("doubtful:") for line in wide)
