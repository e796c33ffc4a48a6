"""Bounds as linear rows: their values, their labels, and wrong bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from ytheta.errors import InputError, UnknownNameError
from ytheta.identification.consistency.bounds import BodyBounds, Inequalities, list_linear_groups

ROBOT = ytheta.load("ur10").numeric
NONE = Inequalities.none(ROBOT)


def test_rows_are_the_margins_of_the_bounds() -> None:
    bounds = BodyBounds(
        mass={"forearm_link": (1.0, 9.0), "wrist_3_link": (0.1, np.inf)},
        center={"forearm_link": ((-0.1, -np.inf, 0.2), (0.1, 0.3, np.inf))},
        total_mass=(10.0, 30.0),
    )
    inequalities = Inequalities.at_least(ROBOT, {"elbow_joint.fv": 0.5})
    groups = list_linear_groups(ROBOT, bounds, inequalities)
    assert [(group.label, group.link) for group in groups] == [
        ("mass of 'forearm_link' from 1 to 9 kg", "forearm_link"),
        ("mass of 'wrist_3_link' at least 0.1 kg", "wrist_3_link"),
        ("centre of 'forearm_link' x from -0.1 to 0.1, y at most 0.3, z at least 0.2 m", "forearm_link"),
        ("total mass from 10 to 30 kg", None),
        ("elbow_joint.fv >= 0.5", None),
    ]
    theta = np.random.default_rng(0).normal(size=len(ROBOT.parameter_names))
    value = dict(zip(ROBOT.parameter_names, theta, strict=True))
    m, mx, my, mz = (value[f"forearm_link.{name}"] for name in ("m", "mx", "my", "mz"))
    total = sum(value[name] for name in value if name.endswith(".m"))
    margins = [
        [m - 1.0, 9.0 - m],
        [value["wrist_3_link.m"] - 0.1],
        [mx + 0.1 * m, mz - 0.2 * m, 0.1 * m - mx, 0.3 * m - my],
        [total - 10.0, 30.0 - total],
        [value["elbow_joint.fv"] - 0.5],
    ]
    for group, margin in zip(groups, margins, strict=True):
        np.testing.assert_allclose(group.rows @ theta - group.lower, margin, rtol=1e-12)


def test_rows_with_the_same_label_are_one_group() -> None:
    rows = np.eye(len(ROBOT.parameter_names))[:3]
    inequalities = Inequalities(rows, np.arange(3.0), ("a", "b", "a"))
    groups = list_linear_groups(ROBOT, BodyBounds(mass={"forearm_link": (-np.inf, np.inf)}), inequalities)
    assert [(group.label, group.lower.tolist()) for group in groups] == [("a", [0.0, 2.0]), ("b", [1.0])]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (BodyBounds(mass={"forearm_link": (2.0, 1.0)}), r"bounds of the mass of 'forearm_link' are \(2.0, 1.0\)"),
        (BodyBounds(mass={"forearm_link": (np.nan, 1.0)}), "give a lower and a larger upper bound"),
        (BodyBounds(total_mass=(3.0, 2.0)), "bounds of the total mass"),
        (BodyBounds(center={"forearm_link": ((0.0, 0.0), (1.0, 1.0))}), "two corners of three numbers"),
        (BodyBounds(center={"forearm_link": ((0, 0, 1), (1, 1, 0))}), "centre of 'forearm_link' along z"),
    ],
)
def test_wrong_bounds(bounds: BodyBounds, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list_linear_groups(ROBOT, bounds, NONE)


def test_unknown_names_and_wrong_inequalities() -> None:
    with pytest.raises(UnknownNameError, match=r"given for 'forearm'.*did you mean 'forearm_link'"):
        list_linear_groups(ROBOT, BodyBounds(mass={"forearm": (0.0, 1.0)}), NONE)
    with pytest.raises(UnknownNameError, match=r"no parameter 'elbow.fv'"):
        Inequalities.at_least(ROBOT, {"elbow.fv": 0.0})
    good = Inequalities.at_least(ROBOT, {"elbow_joint.fv": 0.0})
    with pytest.raises(InputError, match="inequalities with 2 labels need rows of shape"):
        list_linear_groups(ROBOT, BodyBounds(), replace(good, labels=("a", "b")))
    with pytest.raises(InputError, match="not finite; leave out rows"):
        list_linear_groups(ROBOT, BodyBounds(), replace(good, lower=np.array([-np.inf])))
