"""Regressors as SymPy equations: their numbers are those of the kernels, whichever formulation derives them."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

import ytheta as yt
from tests.support.toml_robots import read
from ytheta.dynamics.formulations.derivation import derive_link_regressor, derive_regressor
from ytheta.dynamics.formulations.registry import FORMULATIONS


def evaluate(Y: np.ndarray, values: dict[str, float]) -> np.ndarray:
    return np.array([[float(sympy.sympify(entry).subs(values)) for entry in row] for row in Y])


@pytest.mark.parametrize("formulation", ["", *FORMULATIONS])
def test_equations_have_the_numbers_of_the_kernel(formulation: str) -> None:
    robot, rng = yt.load("lu-two-link", lengths={"l1": 0.7, "l2": 0.4}), np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, 2))
    named = {f"{name}{k + 1}": x[k] for name, x in (("q", q), ("qd", qd), ("qdd", qdd)) for k in range(2)}
    Y = derive_regressor(yt.load("lu-two-link"), formulation=formulation)
    expected = yt.regressor(robot).one(q, qd, qdd)[:, : Y.shape[1]]
    symbols = {sympy.Symbol(name, real=True): value for name, value in named.items()}
    lengths = {sympy.Symbol("l1", real=True): 0.7, sympy.Symbol("l2", real=True): 0.4}
    np.testing.assert_allclose(evaluate(Y, symbols | lengths), expected, atol=1e-12)
    shorter = {sympy.Symbol("l1", real=True): 0.6, sympy.Symbol("l2", real=True): 0.4}
    assert abs(evaluate(Y, symbols | shorter) - expected).max() > 1e-3


TILTED = """
[angles]
alpha1 = 0.4
alpha2 = "unset"
[[link]]
name = "base"
[[link]]
name = "upper"
[[link]]
name = "lower"
[[joint]]
name = "q1"
type = "revolute"
parent = "base"
child = "upper"
standard_dh = { theta = 0.2, a = 0.5, alpha = "alpha1" }
[[joint]]
name = "q2"
type = "prismatic"
parent = "upper"
child = "lower"
modified_dh = { alpha = "-alpha2", a = 0.3 }
"""


@pytest.mark.parametrize("formulation", ["", *FORMULATIONS])
def test_angles_stay_symbols(formulation: str) -> None:
    robot, rng = read(TILTED), np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-2.0, 2.0, (3, 2))
    named = {f"{name}{k + 1}": x[k] for name, x in (("q", q), ("qd", qd), ("qdd", qdd)) for k in range(2)}
    Y = derive_regressor(robot, formulation=formulation, angles={"alpha1": sympy.Rational(2, 5)})
    for alpha2 in (0.9, -0.2):
        values = {sympy.Symbol(name, real=True): value for name, value in (named | {"alpha2": alpha2}).items()}
        expected = yt.regressor(robot.with_angles(alpha2=alpha2), backend="interpreter").one(q, qd, qdd)
        np.testing.assert_allclose(evaluate(Y, values), expected[:, : Y.shape[1]], atol=1e-12)
    with pytest.raises(yt.errors.InputError, match="no angle 'alpha3'; did you mean"):
        derive_regressor(robot, angles={"alpha3": 1.0})


def test_lengths_can_be_numbers_or_other_symbols() -> None:
    robot, a = yt.load("lu-two-link"), sympy.Symbol("a")
    with_symbol = derive_regressor(robot, lengths={"l1": a})
    assert any(sympy.sympify(entry).has(a) for entry in with_symbol.ravel())
    numeric = derive_regressor(robot, lengths={"l1": 1.0, "l2": 0.5})
    assert {str(symbol)[0] for entry in numeric.ravel() for symbol in sympy.sympify(entry).free_symbols} <= {"q"}


def test_what_cannot_be_derived_is_refused() -> None:
    with pytest.raises(yt.errors.InputError, match="loops or couplings"):
        derive_regressor(yt.load("five-bar"))
    with pytest.raises(yt.errors.InputError, match="no length 'l9'"):
        derive_regressor(yt.load("lu-two-link"), lengths={"l9": 1.0})
    with pytest.raises(yt.errors.UnknownNameError, match="newton_euler"):
        derive_regressor(yt.load("lu-two-link"), formulation="newton-euler")


def test_columns_of_a_special_link() -> None:
    """The load of the paper's example: (63) has the torque of the regressor in ten parameters."""
    robot = yt.load("lu-two-link")
    inertia = robot.link("load").inertia
    parts = {case: derive_link_regressor(robot, "load", case=case) for case in ("general", "point-mass", "center-on-x")}
    assert [len(columns) for columns in parts.values()] == [16, 10, 6]
    expected = sympy.Matrix(derive_regressor(robot)[:, 20:30]) * sympy.Matrix(inertia.vector)
    state = {f"{name}{k}": 0.1 * k + 0.3 for name in ("q", "qd", "qdd") for k in (1, 2)} | {"l1": 0.7, "l2": 0.4}
    values = {sympy.Symbol(name, real=True): value for name, value in state.items()}
    for case in ("general", "center-on-x"):
        columns, theta = parts[case], yt.reduce_parameters(inertia, case)
        torque = sympy.Matrix(np.column_stack(list(columns.values()))) * sympy.Matrix(theta)
        assert np.array((torque - expected).subs(values), dtype=float) == pytest.approx(np.zeros((2, 1)), abs=1e-12)
        assert abs(np.array((torque + expected).subs(values), dtype=float)).max() > 0.1


def test_columns_of_an_unknown_link_or_case_are_refused() -> None:
    with pytest.raises(yt.errors.UnknownNameError, match="no moving link 'lode'"):
        derive_link_regressor(yt.load("lu-two-link"), "lode")
    with pytest.raises(yt.errors.UnknownNameError, match="no case 'rod' of a link"):
        derive_link_regressor(yt.load("lu-two-link"), "load", case="rod")
