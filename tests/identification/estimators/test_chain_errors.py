"""Errors that grow along the chain: a planted log on which sequential estimators fail, and a twin without the cause.

The wrist swings slowly with one frequency, and a cable that is not described acts on it like a spring. In the wrist's
own equations, the cable looks like an inertia that is far too large, and this inertia spoils the joints before it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from ytheta.findings import Finding
from ytheta.identification.estimators import chain_errors
from ytheta.identification.finding_codes import FitFindingCode

WRIST, STIFFNESS = "wrist_3_joint", 2.0  # Nm/rad


@cache
def make_log(stiffness: float) -> dict[str, np.ndarray]:
    robot = yt.load("ur10").with_drives(lambda name, drive: replace(drive, coulomb=5.0) if name == WRIST else drive)
    t = np.arange(4000) / 200.0
    q, qd, qdd = yt.default_reference(robot, 20.0)(t)
    w = 2.0 * np.pi * 0.1
    swing = 0.5 * np.sin(w * t)
    q[:, -1], qd[:, -1], qdd[:, -1] = 0.3 + swing, 0.5 * w * np.cos(w * t), -(w**2) * swing
    tau = yt.inverse_dynamics(robot)(q, qd, qdd)
    tau[:, -1] += stiffness * swing
    return {"t": t, "q": q, "tau": tau + 0.02 * np.random.default_rng(0).normal(size=tau.shape)}


@cache
def identify(estimator: str, stiffness: float, forgetting: float | None = None) -> yt.Identification:
    # With a cut-off that is set, errors are those of the equations, which the finding contains.
    return yt.identify(yt.load("ur10"), make_log(stiffness), estimator=estimator, forgetting=forgetting, cutoff=8.0)


def find_findings(fit: yt.Identification) -> list[Finding]:
    return [each for each in fit.findings if each.code == FitFindingCode.ESTIMATOR and "spoilt" in each.fields]


@pytest.mark.parametrize(
    ("estimator", "forgetting", "together"),
    [("sequential", None, "weighted"), ("lin", None, "weighted"), ("sequential", 0.9999, "recursive")],
)
def test_growing_errors_are_named_and_all_joints_estimated_together(
    estimator: str, forgetting: float | None, together: str
) -> None:
    fit = identify(estimator, STIFFNESS, forgetting)
    (finding,) = find_findings(fit)
    assert finding.names == (WRIST,)
    assert finding.fields["error_percent"] > 3.0 * finding.fields["joint_error_percent"]
    np.testing.assert_array_equal(fit.beta, identify(together, STIFFNESS, forgetting).beta)


@pytest.mark.parametrize("estimator", ["sequential", "lin"])
def test_without_the_rule_the_errors_would_grow(estimator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule says what would have happened: the same errors."""
    (finding,) = find_findings(identify(estimator, STIFFNESS))
    monkeypatch.setattr(chain_errors, "MAX_ERROR_RATIO", np.inf)
    fit = yt.identify(yt.load("ur10"), make_log(STIFFNESS), estimator=estimator, cutoff=8.0)
    assert not find_findings(fit)
    equations = fit.normal_equations
    errors = 100.0 * np.sqrt(equations.residual_squares(fit.estimate.beta) / equations.torque_squares)
    assert errors.max() > 100.0 > identify("weighted", STIFFNESS).fit.per_joint_percent.max()
    assert fit.base.robot.actuated[int(np.argmax(errors))] == finding.fields["spoilt"]
    assert errors.max() == pytest.approx(finding.fields["error_percent"], rel=1e-6)


@pytest.mark.parametrize("estimator", ["sequential", "lin"])
def test_errors_that_do_not_grow_are_not_named(estimator: str) -> None:
    """The twin: without the cable, the estimate is that of the joints one after the other."""
    fit = identify(estimator, 0.0)
    assert not find_findings(fit)
    assert abs(fit.beta - identify("weighted", 0.0).beta).max() > 1e-6
