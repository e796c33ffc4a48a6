"""The text of an identification on terminals of any width."""

from __future__ import annotations

from functools import partial

import pytest

from ytheta.identification.result import Identification
from ytheta.report.identification.text import print_identification
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
