"""Tables on the page of an identification: the logs and their preparation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.browser import Page
from ytheta.identification.result import Identification
from ytheta.logs.log import LogOrigin
from ytheta.report.identification_page import identification_html, list_log_rows


def test_every_log_is_listed_with_its_rows(identification: Identification) -> None:
    origins = LogOrigin("CSV", rows=5000, first=600, stop=4600), LogOrigin("CSV", rows=4000, first=0, stop=4000)
    origin = replace(identification.origin, log_origins=origins, validation_logs=("/somewhere/other.csv",))
    fit, validation = list_log_rows(replace(identification, origin=origin))
    assert fit[1:3] == ["fit", "600:4600 of 5000"]
    assert validation[:3] == ["other.csv", "validation", "all 4000"]
    for row, cutoff in ((fit, origin.settings[0].cutoff), (validation, origin.judged_cutoffs[-1])):
        assert float(row[3].removesuffix(" Hz")) == pytest.approx(float(cutoff), rel=0.01)
    text = Page(identification_html(replace(identification, origin=origin))).text
    assert "600:4600 of 5000" in text
    assert "/somewhere" not in text.partition("Settings")[2]
    unknown = list_log_rows(identification)  # the twin: the logs were not read from files
    assert [row[2] for row in unknown] == ["", ""]
