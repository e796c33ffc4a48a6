"""The simulation of fernandez2000 in continuous time, by an adaptive integrator.

The paper gives its three gains, but neither the trajectory nor the initial estimate.
"""

from __future__ import annotations

import numpy as np

from tests.support.control_loop import simulate_continuous
from tests.support.lu1993_loop import evaluate_at
from ytheta.papers.fernandez2000 import SECONDS, make_point_to_point_reference, make_puma_law, simulate


def test_adaptation_reduces_the_error_and_the_lyapunov_function_falls() -> None:
    """Lambda = 39, K_D = 35 and Gamma = 0.075, whose inverse is the gain; estimates start at half the description."""
    reference, late_errors = evaluate_at(make_point_to_point_reference(1, 6, 8.0)), []
    for law in (make_puma_law(), make_puma_law(1e-9)):
        truth = law.unknowns.nominal
        run = simulate_continuous(
            law, reference, plant=law.robot, seconds=2.0, offset=0.05, estimate=0.5 * truth, rtol=1e-6, method="LSODA"
        )
        V = run.lyapunov(truth)
        assert (np.diff(V) <= 1e-6 * V[0]).all()
        late_errors.append(np.sqrt(np.mean(np.square(run.error[-50:]))))
    assert late_errors[0] < 0.25 * late_errors[1]  # the twin does not adapt


def test_fixed_steps_agree_with_an_adaptive_integrator() -> None:
    """The twin does not adapt."""
    law, reference = make_puma_law(), evaluate_at(make_point_to_point_reference(1, 6, SECONDS, reach=1.2))
    exact = simulate_continuous(
        law,
        reference,
        plant=law.robot,
        seconds=0.3,
        offset=0.0,
        estimate=0.5 * law.unknowns.nominal,
        points=61,
        rtol=1e-8,
        method="LSODA",
    )
    run, twin = simulate(law, 0.3), simulate(make_puma_law(1e-9), 0.3)
    np.testing.assert_allclose(run.t, exact.t[:-1], rtol=0.0, atol=1e-12)
    for simulated, agrees in ((run, True), (twin, False)):
        difference = np.abs(simulated.motion[0] - simulated.reference[0] - exact.error[:-1]).max()
        assert (difference < 1e-6) == agrees
        assert agrees or difference > 1e-4
