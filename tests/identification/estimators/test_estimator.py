"""Estimators by name."""

from __future__ import annotations

import pytest

from ytheta.errors import UnknownNameError
from ytheta.identification.estimators.estimator import DEFAULT, ESTIMATORS, get_estimator


def test_estimators_are_found_by_name() -> None:
    assert list(ESTIMATORS) == [
        "evidence",
        "least-squares",
        "weighted",
        "sequential",
        "huber",
        "recursive",
        "lin",
        "instrumental-variables",
        "total-least-squares",
    ]
    assert [get_estimator(name).name for name in ESTIMATORS] == list(ESTIMATORS)
    assert get_estimator("auto") is get_estimator(DEFAULT) is get_estimator("evidence")
    with pytest.raises(UnknownNameError, match=r"no estimator 'hubr'; did you mean 'huber'\?"):
        get_estimator("hubr")
    with pytest.raises(
        UnknownNameError, match="choose from: auto, evidence, huber, instrumental-variables, least-squares"
    ):
        get_estimator("zzz")
