"""What page, text and JSON share."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.support.browser import Page
from ytheta.findings import Finding, Severity
from ytheta.identification.assessment.excitation import Certainty
from ytheta.identification.model_file import model_to_toml
from ytheta.identification.result import Identification
from ytheta.logs.log import LogFindingCode
from ytheta.report.identification import summarize_identification
from ytheta.report.identification_page import identification_html
from ytheta.report.identification_statistics import list_weaknesses
from ytheta.report.numbers import (
    format_number,
)


def test_small_parameters_are_marked_everywhere(identification: Identification) -> None:
    small = [
        name for name, seen in zip(identification.names, identification.seen, strict=True) if seen is Certainty.SMALL
    ]
    assert small
    assert identification.seen.count(Certainty.DETERMINED) == len(identification.names) - len(small)
    data = summarize_identification(identification)
    assert (data["determined"], data["too_small_to_matter"]) == (len(identification.names) - len(small), len(small))
    assert {row["name"] for row in data["parameters"] if row["seen"] == "too small to matter"} == set(small)
    rows = tomllib.loads(model_to_toml(identification))["identification"]["parameters"]
    assert {row["name"] for row in rows if row["seen"] == "too small to matter"} == set(small)
    assert f"{len(small)} too small to matter, 0 weak" in str(identification)
    assert identification_html(identification).count('class="seen small">too small to matter<') == len(small)


def test_relative_autocorrelation_is_the_same_everywhere(identification: Identification, page: Page) -> None:
    ratios = identification.fit.autocorrelation_time / identification.origin.expected_autocorrelation_time
    assert summarize_identification(identification)["correlated"] == pytest.approx(ratios.tolist())
    assert (
        summarize_identification(identification)["autocorrelation_time"]
        == identification.fit.autocorrelation_time.tolist()
    )
    for ratio in ratios:
        assert f"×{format_number(float(ratio), 2)}" in page.text
        assert f"×{ratio:.2g}" in str(identification)


def test_a_repeated_motion_is_not_called_unseen(identification: Identification, page: Page) -> None:
    assert "motion not used for the fit" in page.text
    again = replace(
        identification, findings=(Finding(LogFindingCode.REPEATED_MOTION, Severity.WARNING, "the same again"),)
    )
    text = Page(identification_html(again)).text
    assert "motion not used for the fit" not in text
    assert text.count("a repetition of the same motion") == 4  # in verdict and headline, beside the figure, above plots


def test_strongly_correlated_parameters(identification: Identification) -> None:
    assert list(list_weaknesses(identification)) == []
    close = replace(identification)
    correlation = identification.correlation.copy()
    correlation[0, 1] = correlation[1, 0] = 0.9999
    seen = (Certainty.WEAK,) * len(identification.names)
    for name, value in (("correlation", correlation), ("seen", seen), ("missing", ())):
        object.__setattr__(close, name, value)  # frozen and cached: what another motion would have given
    more, pair = list_weaknesses(close)
    assert more == f"… and {len(identification.names)} more parameters are weak"
    assert pair.endswith(f"{identification.names[0]} with {identification.names[1]} (0.999)")
    assert Page(identification_html(close)).text.count("(0.999)") == 1
    assert summarize_identification(close)["correlations"][0]["parameters"] == list(identification.names[:2])
    object.__setattr__(close, "seen", (Certainty.DETERMINED,) * len(identification.names))
    assert list(list_weaknesses(close)) == []  # known both, in spite of it
    object.__setattr__(close, "decomposition", SimpleNamespace(condition_number=13200.0))
    assert "condition number 13200 is above 100" in next(list_weaknesses(close))
