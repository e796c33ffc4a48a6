"""Options of the export to C: wrong values are refused with a hint."""

from __future__ import annotations

import pytest

import ytheta as yt
from ytheta.errors import InputError, UnknownNameError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": "doubel"}, "precision has the value 'doubel'; did you mean 'double'"),
        ({"parameters": "inside"}, "parameters has the value 'inside'; choose from: baked, passed"),
        ({"trigonometry": "mine"}, "trigonometry has the value 'mine'"),
        ({"functions": ("gravty",)}, "functions has the value 'gravty'; did you mean 'gravity'"),
    ],
)
def test_unknown_words_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        yt.COptions(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ギター", "a\nb"])
def test_names_that_cannot_be_typed_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="give ASCII letters, digits and underscores"):
        yt.COptions(name=name)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_a_rate_is_positive(rate: float) -> None:
    with pytest.raises(InputError, match="rate"):
        yt.COptions(rate=rate)
