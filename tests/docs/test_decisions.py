"""docs/decisions.md is what its generator writes, and no threshold that judges a log or a fit is missing."""

from __future__ import annotations

import pytest
from tools.decisions import PAGE, SOURCE, list_constants, write_page

JUDGING = ("logs/checking", "logs/preparing", "logs/reading", "identification", "payload")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(list_constants()), "run: python -m tools.decisions"


@pytest.mark.parametrize("folder", JUDGING)
def test_every_number_says_where_it_comes_from(folder: str) -> None:
    constants = list_constants(SOURCE / folder)
    assert constants
    silent = [f"{constant.module}:{constant.line} {constant.name}" for constant in constants if constant.basis is None]
    assert silent == [], 'add "Chosen on: …", "Fixed by: …" or "affects only …" to the comment; see tools/decisions.py'
