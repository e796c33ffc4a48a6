"""Arguments of identify and predict: one speed for all joints, forgetting, parameters instead of friction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.known_arm import known_arm
from ytheta.errors import InputError
from ytheta.identification.equations.friction import check_min_speed, is_auto
from ytheta.identification.equations.selection import FRICTION, check_parameters, expand_friction
from ytheta.identification.estimators.recursive import Recursive
from ytheta.identification.identify import choose_estimator

ROBOT = yt.load("lu-two-link")


def test_a_single_min_speed_applies_to_all_joints() -> None:
    assert check_min_speed(ROBOT, None) is None
    assert check_min_speed(ROBOT, "auto") is None
    assert is_auto("auto")
    assert not any(map(is_auto, (None, 0.0, "0.3", np.array([0.25, 0.25]))))
    accepted: tuple[Any, ...] = (0.25, [0.25], (0.25, 0.25), np.array([0.25, 0.25]))
    for speeds in accepted:
        np.testing.assert_array_equal(check_min_speed(ROBOT, speeds), [0.25, 0.25])
    np.testing.assert_array_equal(check_min_speed(ROBOT, 0.0), [0.0, 0.0])
    arm = known_arm()
    one, each = (yt.identify(arm.robot, arm.log(), min_speed=speeds) for speeds in (0.3, (0.3, 0.3)))
    np.testing.assert_array_equal(one.beta, each.beta)
    assert one.origin.min_speed == (0.3, 0.3)
    assert not np.array_equal(one.beta, yt.identify(arm.robot, arm.log()).beta)  # the twin
    refused: tuple[tuple[Any, str], ...] = (
        ([1.0, 2.0, 3.0], "min_speed has 3 speeds for 2 joints; give one for all, or one for each"),
        (-1.0, "give non-negative speeds"),
        ("slow", "min_speed is 'slow'; give non-negative speeds in rad/s or m/s, or 'auto'"),
        ("0.3", "min_speed is '0.3'"),
        (float("nan"), "give non-negative speeds"),
        (np.array([1.0, -2.0]), "give non-negative speeds"),
    )
    for bad_speeds, words in refused:
        with pytest.raises(InputError, match=words):
            check_min_speed(ROBOT, bad_speeds)


def test_forgetting_belongs_to_the_recursive_estimator() -> None:
    assert choose_estimator("recursive", 0.99) == Recursive(forgetting=0.99)
    assert choose_estimator(Recursive(), 0.99) == Recursive(forgetting=0.99)
    assert choose_estimator("recursive", None) == Recursive()
    for name in ("auto", "weighted", "huber"):
        with pytest.raises(
            InputError, match=r'forgetting needs the estimator "recursive" or "sequential"; ".*" has no forgetting'
        ):
            choose_estimator(name, 0.99)
    arm = known_arm()
    fading = yt.identify(arm.robot, arm.log(), estimator="recursive", forgetting=0.99)
    np.testing.assert_array_equal(
        fading.beta, yt.identify(arm.robot, arm.log(), estimator=Recursive(forgetting=0.99)).beta
    )
    assert not np.array_equal(fading.beta, yt.identify(arm.robot, arm.log(), estimator="recursive").beta)


def test_friction_is_expanded() -> None:
    assert expand_friction(None) == FRICTION
    assert expand_friction(()) == ()
    assert expand_friction(("viscous", "asymmetric", "coulomb")) == ("viscous", "coulomb", "offset")
    assert expand_friction(("root", "load", "root")) == ("root", "load")
    assert expand_friction(("viscous", "smooth")) == ("viscous", "coulomb", "smooth")
    with pytest.raises(
        InputError, match="no friction 'dry'; choose from: asymmetric, coulomb, load, offset, root, smooth, viscous"
    ):
        expand_friction(("dry",))


def test_parameters_replace_friction_and_rotor_inertia() -> None:
    assert check_parameters(None, FRICTION, rotor_inertia=True) == ()
    assert check_parameters(["link*"], None, rotor_inertia=False) == ("link*",)
    cases: list[tuple[Any, Any, bool, str]] = [
        (["link*"], (), False, r"remove friction and add '\*.fv"),
        (["link*"], None, True, r"remove rotor_inertia and add '\*.Ia'"),
        ([], None, False, "parameters is empty"),
        ("link*,*.fv", None, False, r"such as \('link\*', '\*.fv'\), not a single string"),
    ]
    for parameters, friction, rotor_inertia, words in cases:
        with pytest.raises(InputError, match=words):
            check_parameters(parameters, friction, rotor_inertia=rotor_inertia)
