"""The calibration benchmark: ratios, coverage, and the true values of base parameters."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration import DEFAULT, KNOWN_ROTORS, NO_PRIOR, Family, Outcome
from benchmarks.simulated_robots import FrictionLaw, load_description, make_motion, make_true_robot, record

import ytheta as yt
from benchmarks import calibration


def _make_outcome(variant: str, error: float, deviations: dict[str, float]) -> Outcome:
    return Outcome("a", "ur10", 0, variant, error, 2.0 * error, 0.1, deviations)


@pytest.mark.parametrize(
    ("name", "kind"), [("l.m", "m"), ("l.mx", "first moment"), ("l.Ixy", "inertia"), ("j.Ia", "Ia"), ("j.fv", "fv")]
)
def test_kinds_of_parameters(name: str, kind: str) -> None:
    assert calibration.get_kind(name) == kind


def test_coverage_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "MIN_COUNT_OF_KIND", 1)
    outcome = _make_outcome(DEFAULT, 1.0, {"l.mx": 1.0, "l.my": -1.97, "j.fv": -1.9, "j.fc": np.inf})
    coverage = calibration.compute_coverage([outcome])
    assert coverage == {"all": 50.0, "first moment": 50.0, "fv": 100.0, "fc": 0.0}
    monkeypatch.setattr(calibration, "MIN_COUNT_OF_KIND", 2)
    assert calibration.compute_coverage([outcome]) == {"all": 50.0, "first moment": 50.0}


def test_error_of_the_coverage_counts_runs() -> None:
    held, missed = ({f"l{k}.mx": value for k in range(50)} for value in (0.0, 5.0))
    runs = [_make_outcome(DEFAULT, 1.0, each) for each in (held, missed)]
    assert calibration.compute_coverage_error(runs) == pytest.approx(50.0)
    assert np.isnan(calibration.compute_coverage_error(runs[:1]))


def test_ratios() -> None:
    outcomes = [_make_outcome(variant, error, {}) for variant, error in ((DEFAULT, 1.0), (NO_PRIOR, 4.0))]
    assert calibration.compute_ratios(outcomes, NO_PRIOR, "validation") == [0.25]


def test_true_values_of_base_parameters() -> None:
    """Deviations from the truth are about one standard deviation; from another robot they are large."""
    description, rng = load_description("panda"), np.random.default_rng(0)
    truth, other = (make_true_robot(description, rng, rotors=False, law=FrictionLaw.PLAIN) for _ in range(2))
    log = record(truth, make_motion(description, rng, rich=True), rng, colour_time=0.02)
    identification = yt.identify(description, log, estimator="weighted")
    near, far = (list(calibration.compute_deviations(identification, each).values()) for each in (truth, other))
    assert len(near) == len(identification.base)
    assert np.sqrt(np.mean(np.square(near))) < 1.3
    assert np.sqrt(np.mean(np.square(far))) > 10.0


def test_friction_has_no_true_value_beside_another_law() -> None:
    description, rng = load_description("ur10"), np.random.default_rng(0)
    truth = make_true_robot(description, rng, rotors=False, law=FrictionLaw.SQUARE_ROOT)
    log = record(truth, make_motion(description, rng, rich=True), rng, colour_time=0.02)
    deviations = calibration.compute_deviations(yt.identify(description, log, estimator="weighted"), truth)
    assert {calibration.get_kind(name) for name in deviations} & {"fv", "fc", "fo"} == {"fo"}


def test_one_family() -> None:
    outcomes = list(calibration.measure_family(Family("small", rich=False, robots=("ur10",)), [0]))
    assert [each.variant for each in outcomes] == [DEFAULT, NO_PRIOR, KNOWN_ROTORS]
    assert all(each.validation > 0.0 and each.model > 0.0 for each in outcomes)
    assert calibration.make_row("small", outcomes)[:2] == ["small", "1"]
