"""Estimation problems: streamed equations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.known_arm import known_arm
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.equations.registry import FORMS, create_form
from ytheta.identification.estimators.least_squares import LeastSquares


@pytest.mark.parametrize("form", FORMS)
def test_the_estimate_does_not_depend_on_the_length_of_pieces(form: str) -> None:
    arm = known_arm()
    source = arm.draw_source(np.random.default_rng(4), 8.0)
    whole, *others = (
        LeastSquares().fit(EstimationProblem(create_form(form, arm.form.base), (source,), piece_length=length)).beta
        for length in (100_000, 512, 77)
    )
    scale = abs(whole).max()
    for other in others:
        np.testing.assert_allclose(other, whole, rtol=1e-9, atol=1e-9 * scale)
