"""BaseParameters itself: names, words, verdicts, ways back, and the kernels that take it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy

import ytheta
from tests.support.base_checks import regressors
from ytheta.errors import InputError, UnknownNameError, UnsetLengthError
from ytheta.identifiability.base_parameters import BaseParameters, Identifiability
from ytheta.identifiability.echelon import looking_order, reduced
from ytheta.identifiability.expression import combination
from ytheta.robot.robot import Robot


@pytest.fixture(scope="module")
def puma() -> BaseParameters:
    return ytheta.base_parameters(ytheta.load("puma560-mdh"), method="qr")


def evaluated(expression: str, names: tuple[str, ...]) -> np.ndarray:
    """The row of coefficients that an expression stands for."""
    row = np.zeros(len(names))
    for term in expression.replace(" - ", " + -").split(" + "):
        factor, _, name = term.rpartition("·")
        sign = -1.0 if (factor or name).startswith("-") else 1.0
        row[names.index(name.lstrip("-"))] += float(factor) if factor else sign
    return row


def test_words_evaluate_to_k(puma: BaseParameters) -> None:
    rows = [evaluated(text, puma.robot.parameter_names) for text in puma.format_expressions(digits=17)]
    np.testing.assert_array_equal(rows, puma.K)
    short = [evaluated(text, puma.robot.parameter_names) for text in puma.expressions]
    np.testing.assert_allclose(short, puma.K, rtol=1e-5)
    assert (np.array(short) != puma.K).any()  # the twin: six digits are not all


def test_textbook_combinations_of_the_puma(puma: BaseParameters) -> None:
    """Those that every regrouping of the PUMA 560 has (a2 = 0.4318, a3 = 0.0203, d4 = 0.4331 m)."""
    written = dict(zip(puma.names, puma.expressions, strict=True))
    tail = "0.4318·link3.m + 0.4318·link4.m + 0.4318·link5.m + 0.4318·link6.m"
    assert written["link2.mx*"] == f"link2.mx + {tail}"
    assert written["link5.my*"] == "link5.my - link6.mz"
    assert written["link6.Ixx*"] == "link6.Ixx - link6.Iyy"
    assert written["link6.Izz"] == "link6.Izz"


def test_verdicts(puma: BaseParameters) -> None:
    assert puma.identifiability["link2.my"] is Identifiability.ALONE
    assert puma.identifiability["link3.m"] is Identifiability.COMBINED
    assert puma.identifiability["link1.m"] is Identifiability.NO_EFFECT
    assert set(puma.identifiability) == set(puma.selected)
    place = {name: k for k, name in enumerate(puma.robot.parameter_names)}
    Y = regressors(puma.robot, puma.selected)
    for name, verdict in puma.identifiability.items():  # no effect means a column of zeros, and only that
        assert (verdict is Identifiability.NO_EFFECT) == (np.abs(Y[:, :, place[name]]).max() < 1e-12 * np.abs(Y).max())


def test_known_alone_means_the_same_in_every_explanation(puma: BaseParameters) -> None:
    """Two different thetas with the same beta agree on what is known alone, and only on that."""
    one = puma.minimum_norm(puma.beta)
    other = puma.nearest(puma.beta, np.random.default_rng(3).normal(size=len(one)))
    for name, verdict in puma.identifiability.items():
        k = puma.robot.parameter_names.index(name)
        assert (abs(one[k] - other[k]) < 1e-9) == (verdict is Identifiability.ALONE), name


def test_ways_back(puma: BaseParameters) -> None:
    beta, prior = puma.beta, puma.robot.theta
    smallest, same = puma.minimum_norm(beta), puma.nearest(beta, prior)
    for theta in (smallest, same):
        np.testing.assert_allclose(puma.K @ theta, beta, atol=1e-12)
    np.testing.assert_allclose(same, prior, atol=1e-12)
    assert np.linalg.norm(smallest) < np.linalg.norm(prior)
    scale = np.where([name.endswith(".m") for name in puma.robot.parameter_names], 10.0, 0.1)
    moved = puma.nearest(1.1 * beta, prior, scale=scale)
    np.testing.assert_allclose(puma.K @ moved, 1.1 * beta, atol=1e-12)
    plain = puma.nearest(1.1 * beta, prior)
    assert np.linalg.norm((moved - prior) / scale) < np.linalg.norm((plain - prior) / scale)
    for bad in (beta[:-1], beta * np.nan):
        with pytest.raises(InputError, match="beta must be 36 finite numbers"):
            puma.minimum_norm(bad)
    with pytest.raises(InputError, match="prior must be 84 finite numbers"):
        puma.nearest(beta, np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        puma.K[0] = 0.0
    for wrong in (np.zeros(3), -scale, scale * np.nan):
        with pytest.raises(InputError, match="positive numbers"):
            puma.nearest(beta, prior, scale=wrong)


def test_kernels_take_base_parameters(puma: BaseParameters) -> None:
    robot = puma.robot
    q, qd, qdd, v = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 9, 6))
    kernel = ytheta.regressor(robot, puma)
    assert kernel.shape == (6, len(puma))
    rigid = replace(robot, joints=tuple(replace(joint, drive=type(joint.drive)()) for joint in robot.joints))
    np.testing.assert_allclose(kernel(q, qd, qdd) @ puma.beta, ytheta.inverse_dynamics(rigid)(q, qd, qdd), atol=1e-10)
    two = ytheta.regressor(robot, puma, reference=True)
    np.testing.assert_allclose(two(q, qd, qd, qdd), kernel(q, qd, qdd), atol=1e-10)
    assert np.abs(two(q, qd, v, qdd) - kernel(q, qd, qdd)).max() > 1e-3
    with pytest.raises(InputError, match="not both"):
        ytheta.regressor(robot, puma, parameters=("link1.m",))
    lighter = robot.with_inertias({"link6": ytheta.Inertia()})
    assert ytheta.regressor(lighter, puma).shape == kernel.shape  # masses do not matter
    on_the_wall = replace(robot, mounting=ytheta.Frame.turn((0.0, 1.0, 0.0), np.pi / 2))
    for other in (ytheta.load("ur10"), on_the_wall):
        with pytest.raises(InputError, match="'puma560-mdh' with other joints, lengths, gravity or mounting"):
            ytheta.regressor(other, puma)


def test_symbols_are_kept_and_evaluated() -> None:
    a, b = sympy.symbols("a b")
    row = np.array([0, -a, 1, a**2 + b, -1.0, -0.5], dtype=object)
    names = ("l.m", "l.x", "l.y", "l.z", "l.u", "l.w")
    assert combination(row, names, head=2, digits=6) == "l.y - a·l.x + (a^2 + b)·l.z - l.u - 0.5·l.w"
    assert combination(np.zeros(2), names[:2], head=0, digits=6) == "0"
    row = np.array([1, 1.0 * a - 0.123456789 * b, 2.0 * a], dtype=object)
    assert combination(row, names[:3], head=0, digits=3) == "l.m + (a - 0.123·b)·l.x + 2.0·a·l.y"


def test_k_needs_lengths() -> None:
    robot = ytheta.load("lu-two-link")
    name = robot.lengths[0][0]
    entries = np.zeros((1, len(robot.parameter_names)), dtype=object)
    entries[0, 0], entries[0, 1] = 1, 2 * sympy.Symbol(name)
    head = robot.parameter_names[:1]
    unset = replace(robot, lengths=tuple((key, None) for key, _ in robot.lengths))
    with pytest.raises(UnsetLengthError, match=name):
        _ = BaseParameters(unset, "lin", head, entries, head).K
    base = BaseParameters(robot.with_lengths(**{name: 0.7}), "lin", head, entries, head)
    assert base.K[0, 1] == pytest.approx(1.4)


def test_the_order_follows_the_axis() -> None:
    """What is dropped of a turning link is its mass and what lies along its axis, whatever axis that is."""
    robot = ytheta.load("ur10")  # joints 2 to 4 turn about y
    names = [robot.parameter_names[k] for k in looking_order(robot, robot.parameter_names)]
    assert [name for name in names if name.startswith("forearm_link")][-3:] == [
        "forearm_link.my", "forearm_link.Izz", "forearm_link.m",
    ]  # fmt: skip
    assert sorted(names) == sorted(robot.parameter_names)


def test_reduction_finds_the_columns_asked_for_first() -> None:
    rows = np.array([[1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
    independent, K = reduced(rows, [1, 0, 3, 2], 2)
    assert independent == [1, 3]
    np.testing.assert_allclose(K, [[1.0, 1.0, -2.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    with pytest.raises(ArithmeticError, match="1 of 2"):
        reduced(rows[:1], [0, 1, 2, 3], 2)


def test_wrong_names_are_refused() -> None:
    robot = ytheta.load("ur10")
    with pytest.raises(UnknownNameError, match="no method 'svd'"):
        ytheta.base_parameters(robot, method="svd")
    with pytest.raises(UnknownNameError, match=r"no friction 'viscos'; did you mean 'viscous'\?"):
        ytheta.base_parameters(robot, friction=("viscos",))
    with pytest.raises(InputError, match=r"not friction; method qr does \(accepted: qr\)"):
        ytheta.base_parameters(robot, method="lin", friction=("viscous",))
    with pytest.raises(InputError, match="no moving joint"):
        ytheta.base_parameters(Robot("block", (robot.base,)))
    with pytest.raises(InputError, match="list of kinds"):
        ytheta.base_parameters(robot, friction="viscous")
    assert repr(ytheta.base_parameters(robot)) == "BaseParameters(36 of 60 parameters of 'ur10', by lin)"
