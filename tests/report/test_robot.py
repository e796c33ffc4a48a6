"""Tables of a robot's joints and links."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from ytheta.conventions import LINK_PARAMETERS
from ytheta.report.robot import build_link_tables


def print_links(parameters: dict[str, float] | None) -> list[str]:
    values = None if parameters is None else dict.fromkeys(LINK_PARAMETERS, 0.0) | parameters
    row: dict[str, Any] = {"name": "arm", "parameters": values, "mass": 2.0, "consistent": True}
    console = Console(file=io.StringIO(), width=200)
    (table,) = build_link_tables(console, {"link_table": [row]})
    with console.capture() as capture:
        console.print(table)
    return capture.get().splitlines()[3].split()


@pytest.mark.parametrize(("entry", "shown"), [(9.9e-22, False), (3e-17, False), (3e-16, True), (-1e-9, True)])
def test_rounding_errors_are_shown_as_zero_and_small_entries_as_they_are(entry: float, shown: bool) -> None:
    cells = print_links({"m": 2.0, "mx": 0.1, "my": entry, "Ixx": 7.2e-5, "Ixy": entry, "Izz": 2e-5})
    small = f"{entry:.4g}"
    # beside 0.1 kg m all but the last are rounding errors, beside 7.2e-5 kg m² only the first two
    assert cells.count(small) == (0 if not shown else 1 if abs(entry) < 1e-13 else 2)
    assert cells[:3] == ["arm", "2", "0.1"]


def test_a_link_without_known_parameters_keeps_its_mass() -> None:
    cells = print_links(None)
    assert cells[:3] == ["arm", "2", "?"]
