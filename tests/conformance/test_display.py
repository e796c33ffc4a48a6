"""Every value that a user holds: one short line as repr, a table as str, HTML for notebooks, documented attributes."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import ytheta as yt
from tests.support.designed_motion import design_two_link
from tests.support.made_up_paper import MADE_UP_PAPER
from ytheta.display import Displayed

MAX_REPR = 150  # characters


@cache
def simulate() -> yt.Simulation:
    return yt.simulate(yt.load("lu-two-link"), seconds=2.0)


@cache
def identify() -> yt.Identification:
    robot = yt.load("lu-two-link")
    return yt.identify(robot, simulate().log(), friction=())


VALUES: dict[str, Callable[[], object]] = {
    "Robot": lambda: yt.load("panda"),
    "Robot with loops": lambda: yt.load("palletiser"),
    "Robot with symbolic lengths": lambda: yt.load("walker"),
    "BaseParameters": lambda: yt.base_parameters(yt.load("panda")),
    "Regrouping": lambda: yt.regroup_lagrangian(yt.load("lu-two-link")),
    "Kernel": lambda: yt.regressor(yt.load("ur10")),
    "ClosedKernel": lambda: yt.gravity(yt.load("five-bar")),
    "Log": lambda: simulate().log(),
    "Simulation": simulate,
    "Identification": identify,
    "Prediction": lambda: yt.predict(yt.load("lu-two-link"), simulate().log()),
    "Excitation": design_two_link,
    "Inspection": lambda: yt.inspect(yt.load("five-bar")),
    "Catalog": yt.robots,
    "Reproduction": lambda: yt.Reproduction((MADE_UP_PAPER,)),
}
RESULTS = ("Simulation", "Identification", "Prediction", "Excitation")


def list_undocumented(kind: type) -> list[str]:
    """Return the public attributes that neither the class nor the attribute itself describes."""
    described = inspect.getdoc(kind) or ""
    fields = [field.name for field in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else []
    members = [
        name
        for name, member in vars(kind).items()
        if not isinstance(member, (str, type(None))) and not inspect.getdoc(member)
    ]
    names = [name for name in (*fields, *members) if not name.startswith("_")]
    return [name for name in dict.fromkeys(names) if name not in described.replace(",", " ").replace("`", " ").split()]


@pytest.mark.parametrize("name", VALUES)
def test_a_value_shows_itself(name: str) -> None:
    value = VALUES[name]()
    assert isinstance(value, Displayed)
    assert len(repr(value)) <= MAX_REPR
    assert "\n" not in repr(value)
    assert type(value).__name__ in repr(value)
    text, html = str(value), value._repr_html_()
    assert len(text.splitlines()) >= 3
    assert max(map(len, text.splitlines())) <= 400  # only a verdict or a finding is one long line
    assert html.startswith("<pre")
    assert "<script" not in html
    data = value.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert list_undocumented(type(value)) == []


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_figures(name: str) -> None:
    go = pytest.importorskip("plotly.graph_objects")
    value = VALUES[name]()
    figures = value.figures()  # type: ignore[attr-defined]
    assert figures
    for title, figure in figures.items():
        assert isinstance(title, str)
        assert isinstance(figure, go.Figure)
        assert any(np.size(trace.y) > 1 for trace in figure.data if trace.y is not None)


def test_the_checks_can_fail() -> None:
    @dataclasses.dataclass
    class Silent:
        """A value.

        Attributes
        ----------
        told  a number
        """

        told: int = 0
        untold: int = 0

        @property
        def bare(self) -> int:
            return 1

    assert list_undocumented(Silent) == ["untold", "bare"]
    assert not isinstance(Silent(), Displayed)
