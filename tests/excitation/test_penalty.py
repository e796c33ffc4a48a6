"""Penalties: derivatives against central differences, and zero inside the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.design_cases import Floor, make_design
from ytheta.excitation.solver import Design

TIGHT = {"lower": -0.3, "upper": 0.3, "velocity": 0.4, "acceleration": 1.0, "jerk": 4.0, "effort": 15.0}


def evaluate_penalty(design: Design, x: np.ndarray) -> tuple[float, np.ndarray]:
    motion = design.space.move(x)
    coordinates = design.constraints.kernels.close(motion[0])
    assert coordinates is not None
    value, gradient = design.constraints.penalize(motion, coordinates)
    return value, design.space.pull_back(gradient)


@pytest.mark.parametrize("name", ["lu-puma4", "panda"])
def test_derivatives_agree_with_differences(name: str) -> None:
    paths = (Floor(7, 1.9),) if name == "panda" else ()
    design = make_design(name, paths=paths, **TIGHT)
    x = 0.5 * np.random.default_rng(1).normal(size=design.shape)
    direction = np.random.default_rng(2).normal(size=design.shape)
    value, gradient = evaluate_penalty(design, x)
    assert value > 0.0
    sides = [evaluate_penalty(design, x + step * direction)[0] for step in (1e-6, -1e-6)]
    numeric = (sides[0] - sides[1]) / 2e-6
    assert (gradient * direction).sum() == pytest.approx(numeric, rel=1e-5)
    assert 1.001 * (gradient * direction).sum() != pytest.approx(numeric, rel=1e-4)


@pytest.mark.parametrize("limit", TIGHT)
def test_each_limit_has_its_penalty(limit: str) -> None:
    changes: dict[str, Any]
    if limit == "lower":
        changes = {"lower": -0.3, "upper": 0.3}
    elif limit == "upper":
        changes = {"lower": -1.5, "upper": 0.2}
    else:
        changes = {limit: TIGHT[limit]}
    x = 0.1 * np.random.default_rng(1).normal(size=make_design("panda").shape)
    assert evaluate_penalty(make_design("panda"), x)[0] == 0.0
    assert evaluate_penalty(make_design("panda", **changes), 5.0 * x)[0] > 0.0


def test_the_objective_has_exact_derivatives_with_loops_too() -> None:
    for name, size in (("lu-puma4", 0.3), ("five-bar", 0.1)):
        design = make_design(name, effort=50.0)
        x = size * np.random.default_rng(3).normal(size=design.shape).ravel()
        direction = np.random.default_rng(4).normal(size=len(x))
        _, gradient = design.evaluate(x, 4.0, 10.0)
        sides = [design.evaluate(x + step * direction, 4.0, 10.0)[0] for step in (1e-6, -1e-6)]
        numeric = (sides[0] - sides[1]) / 2e-6
        assert gradient @ direction == pytest.approx(numeric, rel=2e-5)
        assert 1.01 * gradient @ direction != pytest.approx(numeric, rel=1e-3)
