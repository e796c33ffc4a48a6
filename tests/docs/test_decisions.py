"""docs/decisions.md is what its generator writes, and every number that may judge a user's data says why."""

from __future__ import annotations

import pytest
from tools.decisions import PAGE, SOURCE, list_constants, write_page

JUDGING = ("logs", "identification", "payload", "excitation", "simulation")


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(list_constants()), "run: python -m tools.decisions"


@pytest.mark.parametrize("package", JUDGING)
def test_every_number_says_where_it_comes_from(package: str) -> None:
    constants = list_constants(SOURCE / package)
    assert constants
    silent = [f"{constant.module}:{constant.line} {constant.name}" for constant in constants if constant.basis is None]
    assert silent == [], 'add "Chosen on: …", "Fixed by: …" or "affects only …" to the comment; see tools/decisions.py'
