"""The two schemes of lu1993: batches against an adaptive integrator, and runs in continuous time.

The paper does not give the gains that decide which of its two schemes is faster. With those chosen here, both settle at
the same time (0.291 and 0.293 s), so their order is not tested.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.control_loop import settling_time
from tests.support.lu1993_loop import LU1993_REFERENCE, simulate_lu1993
from ytheta.control import Gradient, Reset
from ytheta.control.laws.law import Law
from ytheta.dynamics import kernels
from ytheta.errors import InputError
from ytheta.papers.lu1993_simulations import (
    DEGREE,
    GAMMAS,
    LINK4_MASS,
    SCHEMES,
    BatchSettings,
    make_craig,
    make_modified,
    simulate_scheme,
)
from ytheta.papers.tracking import compute_settling_times


def test_both_schemes_track_and_estimate_the_load() -> None:
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


def test_with_a_gamma_far_too_large_the_estimated_mass_matrix_of_craigs_scheme_has_no_inverse() -> None:
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


@pytest.mark.parametrize(("gamma", "noise"), [(0.11, 0.0), (0.03, 500.0)])
def test_resets_to_known_bounds_keep_the_mass_matrix_of_craigs_scheme_invertible(gamma: float, noise: float) -> None:
    """The two cases above, with the load known to be between 0 and 1 kg. The twins without resets raise an error."""
    law = make_craig(gamma)
    with pytest.raises(InputError, match="not positive definite"):
        compute_rms_errors(law, noise)
    bounded = replace(law, adaptation=Reset(Gradient(gamma), 0.0, 1.0, 0.1))
    tracking, load = compute_rms_errors(bounded, noise)
    assert tracking < 5e-3
    assert load < 0.05


def test_batches_agree_with_an_adaptive_integrator() -> None:
    """Settling times agree within two steps of 1 ms. The twins do not adapt, or their mass matrix has no inverse."""
    for scheme, make_law in zip(SCHEMES, (make_modified, make_craig), strict=True):
        batch = simulate_scheme(scheme, BatchSettings.single(GAMMAS[scheme]))
        run = simulate_lu1993(make_law)
        assert compute_settling_times(batch.t, batch.largest_error > DEGREE)[0] == pytest.approx(
            run.settling_time(DEGREE), abs=2e-3
        )
        np.testing.assert_allclose(batch.m4[::100, 0], 0.5 + run.x[:-1:100, 0], rtol=0.0, atol=1e-4)
        np.testing.assert_allclose(batch.error[::100, 0], run.error[:-1:100], rtol=0.0, atol=1e-4)
        twin = simulate_scheme(scheme, BatchSettings.single(1e-9))
        assert compute_settling_times(twin.t, twin.largest_error > DEGREE)[0] == np.inf
    assert simulate_scheme("Craig", BatchSettings.single(0.11)).diverged.all()
    assert not simulate_scheme("modified", BatchSettings.single(0.11)).diverged.any()
