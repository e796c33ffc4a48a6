"""The control simulations of the papers in continuous time. The examples compare them with the papers.

lu1993 does not give the gains that decide which of its two schemes is faster. With those chosen here, both settle at
the same time (0.291 and 0.293 s), so their order is not tested. fernandez2000 gives its three gains, but neither the
trajectory nor the initial estimate.
"""

from __future__ import annotations

import numpy as np
import pytest
from examples.fernandez2000_control import make_point_to_point_reference, make_puma_law
from examples.lu1993_schemes import LINK4_MASS, make_craig, make_modified
from examples.lu1993_study import DEGREE

from tests.support.control_loop import settling_time, simulate_continuous
from tests.support.lu1993_loop import LU1993_REFERENCE, evaluate_at, simulate_lu1993
from ytheta.control.laws.law import Law
from ytheta.dynamics import kernels
from ytheta.errors import InputError


def test_lu1993_both_schemes_track_and_estimate_the_load() -> None:
    """As in figures 4 and 5: tracking within 0.3 s and 0.35 s, m4 from 0.5 to 1 kg."""
    for make_law, seconds in ((make_modified, 0.30), (make_craig, 0.35)):
        run = simulate_lu1993(make_law)
        m4 = LINK4_MASS + run.x[:, 0]
        assert m4[0] == 0.5
        assert m4[-1] == pytest.approx(1.0, rel=0.005)
        assert run.settling_time(DEGREE) < seconds
        assert settling_time(run.t, abs(m4 - 1.0) > 0.025) < seconds
    # The twin: without adaptation neither tracks.
    for make_law in (make_modified, make_craig):
        assert simulate_lu1993(make_law, 1e-9).settling_time(DEGREE) == np.inf


def test_lu1993_with_a_gamma_far_too_large_the_estimated_mass_matrix_of_craigs_scheme_has_no_inverse() -> None:
    """With a Gamma that is a hundred times too large, the modified scheme still estimates m4."""
    run = simulate_lu1993(make_modified, 0.6)
    assert LINK4_MASS + run.x[-1, 0] == pytest.approx(1.0, rel=0.01)
    with pytest.raises(InputError, match="input 'x' is nan"):  # the graph yields NaN if H_hat has no inverse
        simulate_lu1993(make_craig, 0.11)


def compute_rms_errors(
    law: Law, noise: float, *, seed: int = 0, seconds: float = 1.0, step: float = 5e-4
) -> tuple[float, float]:
    """Return the rms errors of tracking and of m4 in the second half of a run with held torques and noise on qdd."""
    rng = np.random.default_rng(seed)
    forward, start = kernels.forward_dynamics(law.robot), LU1993_REFERENCE(0.0)
    q, qd, qdd = 1.2 * start.q, start.qd.copy(), start.qdd.copy()
    state, errors, loads = law.init(q, qd, estimate=np.array([0.0])), [], []
    for k in range(round(seconds / step)):
        tau, state = law.step(state, k * step, q, qd, LU1993_REFERENCE(k * step), qdd + noise * rng.normal(size=len(q)))
        qdd = forward.one(q, qd, tau)
        qd = qd + step * qdd
        q = q + step * qd
        errors.append(q - LU1993_REFERENCE((k + 1) * step).q)
        loads.append(state.x[0] - 0.5)
    half = len(errors) // 2
    return float(np.sqrt(np.mean(np.square(errors[half:])))), float(np.sqrt(np.mean(np.square(loads[half:]))))


def test_noise_in_measured_accelerations_affects_craigs_scheme_only() -> None:
    """Noise as large as the accelerations themselves, about 200 rad/s2; the modified scheme does not use them."""
    exact = np.array(compute_rms_errors(make_craig(), 0.0))
    noisy = np.mean([compute_rms_errors(make_craig(), 200.0, seed=seed) for seed in range(4)], axis=0)
    assert noisy[0] > 1.2 * exact[0]
    assert noisy[1] > 3.0 * exact[1]
    assert compute_rms_errors(make_modified(), 200.0) == compute_rms_errors(make_modified(), 0.0)


def test_noise_can_make_the_estimated_mass_matrix_of_craigs_scheme_singular() -> None:
    """The step raises an error that says so."""
    failures = 0
    for seed in range(8):
        try:
            compute_rms_errors(make_craig(0.03), 500.0, seed=seed)
        except InputError as error:
            assert "the estimated mass matrix is not positive definite" in str(error)  # noqa: PT017
            failures += 1
    assert failures > 0


def test_fernandez2000_puma() -> None:
    """Lambda = 39, K_D = 35 and Gamma = 0.075, whose inverse is the gain; estimates start at half the description."""
    reference, late_errors = evaluate_at(make_point_to_point_reference(1, 6, 8.0)), []
    for law in (make_puma_law(), make_puma_law(1e-9)):
        truth = law.unknowns.nominal
        run = simulate_continuous(
            law, reference, plant=law.robot, seconds=8.0, offset=0.05, estimate=0.5 * truth, rtol=1e-6, method="LSODA"
        )
        V = run.lyapunov(truth)
        assert (np.diff(V) <= 1e-6 * V[0]).all()
        late_errors.append(np.sqrt(np.mean(np.square(run.error[-50:]))))
    assert late_errors[0] < 0.25 * late_errors[1]  # the twin does not adapt
