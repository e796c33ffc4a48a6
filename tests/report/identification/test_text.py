"""The text of an identification on terminals of any width."""

from __future__ import annotations

from functools import partial

import pytest

from ytheta.identification.result import Identification
from ytheta.logs.log import LogSize
from ytheta.report.identification import print_identification
from ytheta.report.identification_statistics import describe_sizes
from ytheta.report.numbers import (
    format_plain,
    significant_digits,
)
from ytheta.report.terminal import render_text


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_the_text_fits_the_width(identification: Identification, width: int) -> None:
    text = render_text(partial(print_identification, identification=identification), width=width)
    wide = render_text(partial(print_identification, identification=identification), width=200)
    verdict = text.splitlines()[-1]
    assert max(len(line) for line in text.splitlines() if line != verdict) <= width
    for value, std in zip(identification.beta, identification.std, strict=True):
        assert format_plain(value, significant_digits(value, std), zeros=True) in text
    for words in ("NRMSE %", "combined with"):
        assert words in wide
        assert (words in text) or width < 120
    assert ("--verbose" in text) == ("combined with" not in text or " …" in text)


def test_the_first_lines_state_the_size_of_the_logs(identification: Identification) -> None:
    text = render_text(partial(print_identification, identification=identification), width=200)
    fitted, validated = (
        next(line for line in text.splitlines() if line.startswith(words)) for words in ("fitted to", "validated on")
    )
    assert fitted.endswith(": 19.49 s, 4000 samples at 200 Hz")
    assert validated.endswith(": 19.49 s, 4000 samples at 200 Hz")
    assert identification.fit.samples < 4000  # the twin: the errors are computed at fewer samples


def test_sizes_of_several_logs_are_added() -> None:
    assert describe_sizes([LogSize(300, 3.0, 100.0), LogSize(500, 2.5, 200.0)]) == (
        "5.5 s, 800 samples at 100 and 200 Hz"
    )
    assert describe_sizes([LogSize(300, 3.0, 100.0)] * 2) == "6 s, 600 samples at 100 Hz"
