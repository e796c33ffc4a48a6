"""Results that are Reported: figures, a page, and the hint if a library is missing."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import ClassVar

import plotly.graph_objects as go
import pytest

from ytheta.display import Displayed, Reported
from ytheta.errors import MissingExtraError
from ytheta.identification.result import Identification
from ytheta.plots import Axis, Line
from ytheta.report.figure import line_plot


def test_an_identification_is_reported() -> None:
    assert issubclass(Identification, Reported)
    assert Identification.subject == "identification"


def test_functions_are_found_by_the_subject(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from ytheta.report import identification_page as page
    from ytheta.report import identification_plots as plots

    class Value(Reported):
        subject: ClassVar[str] = "identification"

    figures = {"one": go.Figure()}
    monkeypatch.setattr(plots, "make_identification_figures", lambda _: figures)
    monkeypatch.setattr(page, "write_identification_report", lambda _, path: Path(path))
    assert Value().figures() is figures
    assert Value().report(tmp_path / "a.html") == tmp_path / "a.html"
    assert not hasattr(Displayed, "figures")


def test_without_plotly_the_hint_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    import numpy as np

    t = np.linspace(0.0, 1.0, 3)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        line_plot(t, [Line("a", t)], [Axis("V")])
