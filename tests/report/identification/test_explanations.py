"""What the data chose, the prior and the bodies, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ytheta
from ytheta.identification.consistency.standard_parameters import ConsistencyCost
from ytheta.identification.model_choice import Alternative, ModelChoice
from ytheta.identification.priors.prior import Family
from ytheta.identification.result import Identification
from ytheta.report.identification_statistics import (
    explain_choice,
    explain_consistency,
    explain_prior,
    format_log_bayes_factor,
    list_alternatives,
    list_released_links,
)

CHOICE = ModelChoice(
    (Family.ROTOR, Family.ROOT),
    (Family.ROTOR,),
    (Alternative("without rotor inertia", -307.2, 5.0, 7.0), Alternative("with root friction", -3.24, 4.0, 6.5)),
    fit_percent=4.5,
    validation_percent=6.6,
)


def test_log_bayes_factors_speak_for_the_family(identification: Identification) -> None:
    chosen = replace(identification, choice=CHOICE)
    assert explain_choice(chosen) == (
        "chosen by the data, by log Bayes factors in favour: rotor inertia yes (307, needed −3), root friction no "
        "(−3.2, needed 10)"
    )
    rows = list(list_alternatives(chosen))
    assert [name for name, *_ in rows] == ["chosen, before bodies", "without rotor inertia", "with root friction"]
    assert rows[1][1:] == (-307.2, 5.0, 7.0)
    assert rows[0][1:] == (0.0, 4.5, 6.6)
    nothing = replace(identification, choice=ModelChoice((), (), ()))
    assert (explain_choice(nothing), list(list_alternatives(nothing))) == ("", [])
    assert [format_log_bayes_factor(value) for value in (0.0, 4.04, -17708.3)] == ["0", "4.0", "−17708"]


def test_costs_of_consistency(identification: Identification) -> None:
    costly = replace(identification, consistency_cost=ConsistencyCost(2.0, 2.5))
    words = "bodies: the model consists of physically consistent bodies; their error is"
    assert explain_consistency(costly) == f"{words} 2.50 % on the logs of the fit, that of the free estimate 2.00 %"
    validated = replace(identification, consistency_cost=ConsistencyCost(2.0, 2.5, 4.0, 3.9))
    assert explain_consistency(validated) == f"{words} 3.90 % on the validation logs, that of the free estimate 4.00 %"
    assert validated.standard is not None
    fit = replace(validated.standard.fit, width=0.5)
    tighter = replace(validated, standard=replace(validated.standard, fit=fit))
    assert "with ×0.5 the prior's widths they predict parts of the logs better" in explain_consistency(tighter)
    assert not ConsistencyCost(0.001, 0.02, 0.001, 0.2).is_negligible


def test_released_links_are_named() -> None:
    scales = {
        "description": 0.2,
        "link a": 1.4,
        "link b": 2.0,
        "link c": 5.0,
        "link d": 3.0,
        "link e": 4.0,
        "mass": 9.0,
    }
    assert list_released_links(scales) == [("c", 5.0), ("e", 4.0), ("d", 3.0)]


def test_priors_in_words(identification: Identification) -> None:
    assert explain_prior(identification).startswith("prior: the description, expected to be off by ")
    assert "(chosen by the data)" in explain_prior(identification)
    robot = ytheta.load("lu-two-link")
    t = np.arange(1000) / 100.0
    q = np.stack([np.sin(3.0 * t), np.cos(5.0 * t)], axis=1)
    log = {"t": t, "q": q, "tau": q + 0.01 * np.random.default_rng(1).normal(size=q.shape)}
    cases: dict[str, dict[str, Any]] = {
        "given": {"prior_strength": 4.0},
        "none": {"prior": "none"},
        "robot": {"prior": robot, "prior_strength": 4.0},
        "weighted": {"estimator": "weighted"},
    }
    texts = {
        name: explain_prior(ytheta.identify(robot, log, friction=(), rotor_inertia=False, **options))
        for name, options in cases.items()
    }
    assert texts == {
        "given": "prior: the description, expected to be off by 25 % (given)",
        "none": "prior: nothing is expected of the links",
        "robot": "prior: the description lu-two-link, expected to be off by 25 % (given)",
        "weighted": "",
    }
