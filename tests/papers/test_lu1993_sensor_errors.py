"""Errors of measured accelerations."""

from __future__ import annotations

import pytest

from ytheta.papers.lu1993_simulations import compare_sensor_errors


@pytest.mark.parametrize("kind", ["noise", "bias"])
def test_errors_of_measured_accelerations_affect_craigs_scheme_only(kind: str) -> None:
    runs = compare_sensor_errors(kind)
    m4_error = runs["Craig"].m4_error.mean(axis=1)
    assert m4_error[-1] > 3.0 * m4_error[0]
    for values in (runs["modified"].m4, runs["modified"].tracking[..., None]):
        assert (values == values[:1, :1]).all()
