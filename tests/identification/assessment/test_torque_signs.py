"""The choice of torque signs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.diagnosis_runs import FRICTION, simulate_run
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment.torque_signs import SignTest, choose_signs
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.motion_sources import ArraySource


def test_friction_decides_between_signs_that_fit_equally_well() -> None:
    """Reversing all signs fits equally well. The twin: without friction and inertia, the signs stay unchanged."""
    run = simulate_run("ur10")
    base = base_parameters(run.robot, friction=FRICTION)
    assert run.motion.tau is not None
    reversed_motion = replace(run.motion, tau=-run.motion.tau)
    problem = EstimationProblem(Differential(base), (ArraySource(reversed_motion, 100.0),))
    no_inertia = np.zeros((6, len(base)))
    test = SignTest(problem.normal_equations(), run.robot.actuated, base.independent, base.beta, no_inertia)
    assert (choose_signs(test) < 0.0).all()
    nameless = tuple(f"p{k}" for k in range(len(base)))
    assert (choose_signs(replace(test, names=nameless)) > 0.0).all()
    assert test.compute_error(np.ones(6)) == pytest.approx(test.compute_error(-np.ones(6)), rel=1e-9)
    corrected = test.with_signs(-np.ones(6))
    assert (corrected.friction > 0.0).all()
    assert corrected.friction == pytest.approx(-test.friction, rel=1e-6)
