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
from ytheta.findings import Finding, Severity
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
def identify(
    estimator: str, stiffness: float, forgetting: float | None = None, one_by_one: bool = False
) -> yt.Identification:
    # With a cut-off that is set, errors are those of the equations, which the finding contains.
    return yt.identify(
        yt.load("ur10"),
        make_log(stiffness),
        estimator=estimator,
        forgetting=forgetting,
        one_by_one=one_by_one,
        cutoff=8.0,
    )


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


def compute_errors(fit: yt.Identification) -> dict[str, float]:
    """Return the error of each joint in percent of its torque, from the estimate and the equations."""
    equations = fit.normal_equations
    errors = 100.0 * np.sqrt(equations.residual_squares(fit.estimate.beta) / equations.torque_squares)
    return dict(zip(fit.base.robot.actuated, errors.tolist(), strict=True))


@pytest.mark.parametrize(("estimator", "forgetting"), [("sequential", None), ("lin", None), ("sequential", 0.9999)])
def test_the_procedure_of_the_paper_is_kept_on_demand_and_its_errors_are_stated(
    estimator: str, forgetting: float | None
) -> None:
    fit, replaced = (identify(estimator, STIFFNESS, forgetting, one_by_one) for one_by_one in (True, False))
    (finding,), (would_be,) = find_findings(fit), find_findings(replaced)
    assert finding.names == would_be.names == (WRIST,)
    assert finding.severity is Severity.WARNING
    assert finding.fields == would_be.fields  # the rule says what would have happened
    assert abs(fit.estimate.beta - replaced.estimate.beta).max() > 0.1  # the twin: all joints together
    order = fit.base.robot.actuated[::-1]
    assert finding.fields["order"] == list(order)
    assert all(f"{name!r}" in finding.text for name in order)
    if forgetting is None:
        errors = compute_errors(fit)
        together = compute_errors(identify("weighted", STIFFNESS))
        assert max(errors.values()) > 100.0 > max(together.values())
        assert max(errors, key=lambda name: errors[name]) == finding.fields["spoilt"]
        stated = finding.fields["error_percent_by_joint"], finding.fields["joint_error_percent_by_joint"]
        np.testing.assert_allclose(stated[0], [errors[name] for name in order], rtol=1e-6)
        np.testing.assert_allclose(stated[1], [together[name] for name in order], rtol=1e-3)


def test_what_is_kept_is_equation_38() -> None:
    """Against NumPy's least squares on stacked equations, which has no rule at all."""
    fit = identify("sequential", STIFFNESS, None, True)
    beta, solved = fit.base.beta.copy(), np.zeros(len(fit.base), dtype=bool)
    for joint in reversed(fit.normal_equations.joints):
        own = [k for k, column in enumerate(joint.columns) if not solved[column]]
        later = [k for k, column in enumerate(joint.columns) if solved[column]]
        right_side = joint.right_side[own] - joint.gram[np.ix_(own, later)] @ beta[joint.columns[later]]
        gram = joint.gram[np.ix_(own, own)]
        size = np.sqrt(np.diag(gram))
        beta[joint.columns[own]] = np.linalg.solve(gram / np.outer(size, size), right_side / size) / size
        solved[joint.columns] = True
    np.testing.assert_allclose(fit.estimate.beta, beta, rtol=1e-5, atol=1e-5 * abs(beta).max())
    together = identify("sequential", STIFFNESS).estimate.beta
    assert abs(together - beta).max() > 1e-2 * abs(beta).max()  # the twin


def test_estimators_of_all_joints_have_no_chain() -> None:
    with pytest.raises(yt.errors.InputError, match=r'one_by_one needs the estimator "sequential" or "lin"; "weighted"'):
        identify("weighted", 0.0, None, True)


@pytest.mark.parametrize("estimator", ["sequential", "lin"])
def test_errors_that_do_not_grow_are_not_named(estimator: str) -> None:
    """The twin: without the cable, the estimate is that of the joints one after the other."""
    fit = identify(estimator, 0.0)
    assert not find_findings(fit)
    (note,) = find_findings(identify(estimator, 0.0, None, True))
    assert note.severity is Severity.NOTE
    assert "The errors grow" not in note.text
    np.testing.assert_array_equal(identify(estimator, 0.0, None, True).beta, fit.beta)
    assert abs(fit.beta - identify("weighted", 0.0).beta).max() > 1e-6
