"""The choice of independent coordinates against the rank of Pinocchio's and MuJoCo's constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ytheta.robot.loops.equations import compute_closure_jacobian
from ytheta.robot.loops.independent import choose_independent
from ytheta.robot.reading.load import load

WALKER = load("walker")


def test_preferred_coordinates_are_chosen_if_they_are_independent() -> None:
    choice = choose_independent(WALKER, ("q5", "q7", "q3"))
    assert choice.independent == ("q5", "q7", "q3")
    assert (choice.added, choice.dropped, choice.immobile) == ((), (), ())
    assert choice.closed


def test_others_are_added_and_dependent_ones_dropped() -> None:
    choice = choose_independent(WALKER, ("q5", "q4"))  # both belong to the loop of q1, which has one freedom
    assert choice.dropped == ("q4",)
    assert choice.independent[0] == "q5"
    assert len(choice.added) == 2
    assert "q3" in choice.added


@pytest.mark.parametrize("preferred", [(), ("q1",), ("q6", "q2", "q3")])
def test_the_others_depend_on_the_chosen_coordinates(preferred: tuple[str, ...]) -> None:
    choice = choose_independent(WALKER, preferred)
    robot = replace(WALKER, actuated=())
    jacobian = compute_closure_jacobian(robot.numeric, choice.pose)
    others = [k for k, name in enumerate(robot.coordinates) if name not in choice.independent]
    assert np.linalg.matrix_rank(jacobian[:, others], tol=1e-6) == len(others)
    assert len(choice.independent) == len(robot.coordinates) - np.linalg.matrix_rank(jacobian, tol=1e-6)


def test_held_coordinates_stop_their_loop() -> None:
    choice = choose_independent(WALKER, ("q7", "q3"), held=("q5",))
    assert set(choice.immobile) == {"q1", "q4", "q5"}
    assert choice.independent == ("q7", "q3")
