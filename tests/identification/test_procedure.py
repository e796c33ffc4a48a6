"""The procedure as a whole, where its parts must agree with each other."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.recorded_logs import load_recorded_robot, read_recorded_logs
from benchmarks.simulated_robots import FrictionLaw, load_description, make_motion, make_true_robot, record

from ytheta.findings import Finding
from ytheta.identification import procedure as run
from ytheta.identification.identify import identify
from ytheta.identification.model_choice import compute_error_percent
from ytheta.identification.priors.prior import Family
from ytheta.identification.result import Identification


def identify_half_run() -> Identification:
    """Half a run of the KR300, whose motion does not tell the torques of links and of friction apart."""
    robot = load_recorded_robot("KR300")
    if robot is None:
        pytest.skip("the log of the KR300 is not in ../shared/data")
    log = read_recorded_logs("KR300", robot)["A"].select_times(-np.inf, 4.95)
    return identify(robot, log, cutoff=5.0, friction=("viscous", "coulomb", "root", "load"))


def compare_errors(fit: Identification) -> float:
    """Return the error with the transmitted torque of the model itself, relative to that of the equations."""
    return fit.fit.relative_percent / compute_error_percent(fit.normal_equations, fit.beta)


def find_contradictions(fit: Identification) -> list[Finding]:
    return [finding for finding in fit.findings if "does not reproduce the torque" in finding.text]


def test_load_friction_holds_with_the_torque_of_the_model_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin takes the transmitted torque of the free estimate, with which the two never agree."""
    fit = identify_half_run()
    assert compare_errors(fit) < 1.15  # the widths of the prior are chosen afterwards
    assert not find_contradictions(fit)
    monkeypatch.setattr(run, "_find_likely_bodies", lambda _request, _problem, estimate: estimate.beta)
    (finding,) = find_contradictions(identify_half_run())
    assert finding.is_warning  # it was asked for, and is kept


@pytest.mark.parametrize("agrees", [True, False])
def test_load_friction_that_contradicts_itself_is_left_out(agrees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is chosen anew without it, and nothing of the first choice is left."""
    rng = np.random.default_rng(3)
    description = load_description("ur10")
    truth = make_true_robot(description, rng, rotors=True, law=FrictionLaw.LOAD)
    log = record(truth, make_motion(description, rng, rich=True), rng, colour_time=0.02)
    if not agrees:
        monkeypatch.setattr(run, "MAX_LOAD_ERROR_RATIO", 0.0)
    fit = identify(description, log)
    assert (Family.LOAD in fit.choice.kept) is agrees
    assert (Family.LOAD in fit.choice.considered) is agrees
    assert any(name.endswith(".fl") for name in fit.base.selected) is agrees
    assert [finding.is_warning for finding in find_contradictions(fit)] == ([] if agrees else [False])
