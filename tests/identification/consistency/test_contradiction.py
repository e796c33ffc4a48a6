"""Bounds that contradict each other: the message names a smallest set of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.body_problems import BodyProblem, draw_problem
from ytheta.errors import InputError
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities


def get_problem() -> BodyProblem:
    return draw_problem(ytheta.load("ur10"), 0)


def get_labels(problem: BodyProblem) -> list[str]:
    with pytest.raises(InputError) as caught:
        problem.solve()
    message = str(caught.value)
    assert message.endswith("relax or remove one of them")
    return message.partition(": ")[2].rpartition("; ")[0].split("; ")


MASSES = {"forearm_link": (3.0, 4.0), "upper_arm_link": (8.0, 13.0), "shoulder_link": (1.0, 20.0)}


def test_the_contradiction_is_named_and_nothing_else() -> None:
    problem = replace(get_problem(), bounds=BodyBounds(mass=MASSES, total_mass=(1.0, 11.5)))
    labels = get_labels(problem)
    total = "total mass from 1 to 11.5 kg"
    assert total in labels
    assert "mass of 'forearm_link' from 3 to 4 kg" in labels
    assert "mass of 'upper_arm_link' from 8 to 13 kg" in labels
    assert not [label for label in labels if ">= 0" in label]
    # Without any one of the named bounds, there are bodies.
    for label in labels:
        masses = {link: bound for link, bound in MASSES.items() if f"mass of {link!r}" not in label}
        fewer = BodyBounds(mass=masses, total_mass=None if label == total else (1.0, 11.5))
        assert replace(problem, bounds=fewer).solve().converged


def test_a_bound_that_no_body_satisfies() -> None:
    bounds = BodyBounds(mass={"forearm_link": (-2.0, -1.0), "upper_arm_link": (8.0, 13.0)})
    with pytest.raises(InputError, match="no bodies of robot 'ur10' satisfy this bound: mass of 'forearm_link'"):
        replace(get_problem(), bounds=bounds).solve()


def test_inequalities_that_contradict_each_other() -> None:
    problem = get_problem()
    rows = np.zeros((2, len(problem.target)))
    fv, fc = (problem.robot.parameter_names.index(f"elbow_joint.{p}") for p in ("fv", "fc"))
    rows[0, fv], rows[1, [fv, fc]] = 1.0, -1.0
    labels = ("fv of the elbow", "friction of the elbow at 1 rad/s")
    given = problem.inequalities
    inequalities = Inequalities(
        np.vstack([given.rows, rows]), np.concatenate([given.lower, [2.0, -1.0]]), (*given.labels, *labels)
    )
    assert set(get_labels(replace(problem, inequalities=inequalities))) == {*labels, "elbow_joint.fc >= 0"}
    relaxed = replace(inequalities, lower=np.concatenate([given.lower, [0.5, -1.0]]))
    assert replace(problem, inequalities=relaxed).solve().converged


def test_mass_and_centre_that_contradict_each_other() -> None:
    problem = get_problem()
    none = Inequalities.none(problem.robot)
    P, target = problem.reference.pseudo["forearm_link"], problem.reference.theta
    free = np.zeros(len(target), dtype=bool)
    free[problem.places("forearm_link")[:4]] = True  # the inertia about the origin is fixed: m c² <= S
    axis = int(np.argmax(np.diag(P)[:3]))
    lower, upper = np.full(3, -1.0), np.full(3, 1.0)
    lower[axis] = np.sqrt(1.5 * P[axis, axis] / P[3, 3])
    bounds = BodyBounds(mass={"forearm_link": (P[3, 3], 9.0)}, center={"forearm_link": (tuple(lower), tuple(upper))})
    labels = get_labels(replace(problem, target=target, free=free, bounds=bounds, inequalities=none))
    assert [label.partition(" of")[0] for label in labels] == ["mass", "centre"]


def test_fixed_parameters_that_no_body_has() -> None:
    problem = get_problem()
    places, target = problem.places("forearm_link"), problem.reference.theta.copy()
    target[places[4:]] *= -1.0
    free = np.ones(len(target), dtype=bool)
    free[places[4:]] = False
    with pytest.raises(InputError, match=r"have the fixed parameters of 'forearm_link'; let all ten parameters"):
        replace(problem, target=target, free=free).solve()


def test_fixed_parameters_that_violate_a_bound() -> None:
    problem = get_problem()
    free = np.array([not name.startswith("forearm_link.") for name in problem.robot.parameter_names])
    target = np.where(free, problem.target, problem.reference.theta)
    bounds = BodyBounds(mass={"forearm_link": (0.1, 0.2)})
    with pytest.raises(InputError, match=r"not free violate these bounds: mass of 'forearm_link' from 0.1 to 0.2 kg"):
        replace(problem, target=target, free=free, bounds=bounds).solve()
    wide = BodyBounds(mass={"forearm_link": (0.1, 20.0)})
    assert replace(problem, target=target, free=free, bounds=wide).solve().converged
