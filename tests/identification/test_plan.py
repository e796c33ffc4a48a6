"""Cut-offs of the fit, of the errors and of the report, on logs whose noise is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.errors import InputError
from ytheta.identification.identify import identify
from ytheta.identification.plan import PreparationPlan, describe_cutoffs, plan_preparations
from ytheta.identification.predict import predict
from ytheta.logs.log import Log
from ytheta.logs.preparing.preparation import PreparationSettings

AUTO = PreparationSettings()


def make_noisy_log(noise: float, every: int = 1) -> Log:
    log = known_arm().log(every=every)
    return replace(log, q=log.q + noise * np.random.default_rng(1).normal(size=log.q.shape), source=f"{noise}")


def get_cutoffs(plan: PreparationPlan) -> tuple[list[float], list[float]]:
    """The cut-offs of all logs of the fit, and those of the errors of all logs."""
    judged = (*plan.judged.fit, *plan.judged.validation)
    return [float(each.settings.cutoff) for each in plan.own.fit], [float(each.settings.cutoff) for each in judged]


def test_every_log_of_the_fit_has_its_own_cutoff() -> None:
    clean, noisy = make_noisy_log(1e-6), make_noisy_log(8e-3)
    fitted, judged = get_cutoffs(plan_preparations([clean, noisy], [], AUTO))
    assert fitted[0] == get_cutoffs(plan_preparations([clean], [], AUTO))[0][0]
    assert fitted[1] == get_cutoffs(plan_preparations([noisy], [], AUTO))[0][0]
    assert fitted[1] < 0.7 * fitted[0]
    assert judged[0] == judged[1] <= fitted[1]


def test_a_noisy_validation_log_lowers_the_cutoff_of_the_errors_only() -> None:
    clean, noisy = make_noisy_log(1e-6), make_noisy_log(8e-3, every=7)
    plan = plan_preparations([clean], [noisy], AUTO)
    (fitted,), judged = get_cutoffs(plan)
    assert fitted == get_cutoffs(plan_preparations([clean], [], AUTO))[0][0]
    assert judged[0] == judged[1] == float(plan.own.validation[0].settings.cutoff) < 0.7 * fitted
    (finding,) = describe_cutoffs(plan)
    assert f"fitted at {fitted:.3g} Hz; errors are computed at {judged[0]:.3g} Hz" in finding.text
    assert describe_cutoffs(plan_preparations([clean], [noisy], replace(AUTO, cutoff=5.0))) == ()


def test_the_noise_of_a_validation_log_is_not_blamed_on_the_model() -> None:
    arm = known_arm()
    clean, noisy = make_noisy_log(1e-6), make_noisy_log(8e-3, every=7)
    fit = identify(arm.robot, clean, validate=noisy, estimator="weighted")
    forced = identify(arm.robot, clean, validate=noisy, estimator="weighted", cutoff=fit.origin.settings[0].cutoff)
    assert fit.validation is not None
    assert forced.validation is not None
    assert fit.validation.relative_percent < 0.5 * forced.validation.relative_percent
    np.testing.assert_allclose(fit.beta, forced.beta, rtol=1e-9)  # the model is the same


def test_errors_at_the_report_cutoff_are_those_of_a_prediction_at_this_cutoff() -> None:
    arm, log = known_arm(), make_noisy_log(1e-4)
    fit = identify(arm.robot, log, validate=make_noisy_log(5e-4), report_cutoff=2.0, estimator="weighted")
    assert fit.reported is not None
    assert fit.reported.validation is not None
    expected = predict(fit, log, cutoff=2.0).errors
    other = predict(fit, log, cutoff=4.0).errors
    assert expected is not None
    assert other is not None
    # The prediction uses physically consistent bodies, whose error hardly differs from that of the estimate.
    assert fit.reported.fit.relative_percent == pytest.approx(expected.relative_percent, rel=0.05)
    assert fit.reported.fit.samples == expected.samples != other.samples
    assert identify(arm.robot, log, estimator="weighted").reported is None


@pytest.mark.parametrize("cutoff", [0.0, -1.0, float("nan"), True])
def test_a_report_cutoff_is_a_positive_number(cutoff: float) -> None:
    with pytest.raises(InputError, match="report_cutoff is"):
        plan_preparations([make_noisy_log(0.0)], [], AUTO, report_cutoff=cutoff)


def test_a_report_cutoff_above_half_the_rate_names_the_log() -> None:
    fast, slow = make_noisy_log(1e-6), replace(make_noisy_log(1e-5, every=10), source="slow.csv")
    with pytest.raises(InputError, match=r"slow.csv: a report cut-off of 12 Hz is impossible at 20 samples"):
        plan_preparations([fast], [slow], AUTO, report_cutoff=12.0)
    assert plan_preparations([fast], [], AUTO, report_cutoff=12.0).reported is not None


def test_a_prediction_is_judged_at_what_the_log_bears() -> None:
    arm = known_arm()
    fit = identify(arm.robot, make_noisy_log(1e-6), estimator="weighted")
    assert predict(fit, make_noisy_log(1e-6)).preparation.settings.cutoff == pytest.approx(fit.origin.cutoff)
    noisy = predict(fit, make_noisy_log(8e-3, every=7)).preparation.settings
    assert float(noisy.cutoff) < 0.7 * fit.origin.cutoff
