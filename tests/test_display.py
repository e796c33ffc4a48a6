"""Results that are Reported: figures, a page, and the hint if a library is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import plotly.graph_objects as go
import pytest

import ytheta as yt
from tests.support.paths import ROOT
from ytheta.display import Displayed, Reported
from ytheta.errors import MissingExtraError
from ytheta.identification.result import Identification
from ytheta.plots import Axis, Line
from ytheta.report import identification_page, identification_plots
from ytheta.report.figure import line_plot
from ytheta.report.views import VIEWS


def test_an_identification_is_reported() -> None:
    assert issubclass(Identification, Reported)


def test_functions_are_found_by_the_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    identification = object.__new__(Identification)
    figures = {"one": go.Figure()}
    monkeypatch.setattr(identification_plots, "make_identification_figures", lambda _: figures)
    monkeypatch.setattr(identification_page, "write_identification_report", lambda _, path: Path(path))
    assert identification.figures() is figures
    assert identification.report(tmp_path / "a.html") == tmp_path / "a.html"
    assert not hasattr(Displayed, "figures")


def list_subclasses(base: type) -> Iterator[type]:
    subclasses: list[type] = base.__subclasses__()
    for each in subclasses:
        if each.__module__.startswith("ytheta."):
            yield each
            yield from list_subclasses(each)


def test_every_displayed_type_has_a_view_and_every_function_exists() -> None:
    for name in dir(yt):
        getattr(yt, name)  # loads the modules that define the types
    displayed = {each.__name__ for each in list_subclasses(Displayed)} - {"Reported"}
    assert displayed == set(VIEWS) - {"PaperReproduction"}
    reported = {each.__name__ for each in list_subclasses(Reported)}
    assert {name for name, view in VIEWS.items() if view.figures and view.page} == reported
    for view in VIEWS.values():
        for function in filter(None, (view.printer, view.summary, view.figures, view.page)):
            module, _, name = function.partition(":")
            assert callable(getattr(import_module(f"ytheta.report.{module}"), name))


def test_a_type_without_view_is_noticed() -> None:
    class Value(Displayed):
        pass

    with pytest.raises(LookupError, match="Value"):
        str(Value())


def test_text_and_plain_data_do_not_load_the_modules_of_pages() -> None:
    code = (
        "import sys, ytheta as yt\n"
        "robot = yt.load('lu-two-link')\n"
        "str(robot), robot.to_dict()\n"
        "print({'plotly', 'jinja2', 'ytheta.report.html_page', 'ytheta.report.figure'} & set(sys.modules))\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "set()"


def test_without_plotly_the_hint_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    import numpy as np

    t = np.linspace(0.0, 1.0, 3)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        line_plot(t, [Line("a", t)], [Axis("V")])
