"""The views: which functions of this package print, summarize, plot and report the values of each type.

The functions are named as ``module:function``, and their modules are loaded when they are called: a table on a
terminal does not load the modules that make pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.display import register_views

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from rich.console import Console


@dataclass(frozen=True)
class LazyView:
    """A view by the names of its functions.

    Attributes
    ----------
    printer
        Prints tables: ``printer(console, value)``.
    summary
        Returns the object of ``--json``.
    figures
        Returns Plotly figures by name; empty for values without figures.
    page
        Writes the page of ``--report``; empty for values without a page.
    """

    printer: str
    summary: str
    figures: str = ""
    page: str = ""

    def print(self, console: Console, value: Any, **options: bool) -> None:
        _load(self.printer)(console, value, **options)

    def render_text(self, value: Any, *, width: int | None = None, **options: bool) -> str:
        from ytheta.report.terminal import TEXT_WIDTH, render_text

        return render_text(lambda console: self.print(console, value, **options), width=width or TEXT_WIDTH)

    def render_html(self, value: Any) -> str:
        from ytheta.report.terminal import render_html

        return render_html(lambda console: self.print(console, value))

    def summarize(self, value: Any) -> dict[str, Any]:
        data: dict[str, Any] = _load(self.summary)(value)
        return data

    def make_figures(self, value: Any) -> dict[str, go.Figure]:
        figures: dict[str, go.Figure] = _load(self.figures)(value)
        return figures

    def write_page(self, value: Any, path: str | Path) -> Path:
        written: Path = _load(self.page)(value, path)
        return written


def _load(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(f"ytheta.report.{module}"), function)
    return loaded


_KERNEL = LazyView("kernel:print_kernel", "kernel:summarize_kernel")

VIEWS = {
    "BaseParameters": LazyView("base_parameters:print_base_parameters", "base_parameters:summarize_base_parameters"),
    "Benchmark": LazyView("benchmark:print_benchmark", "benchmark:summarize_benchmark"),
    "Catalog": LazyView("robot:print_catalog", "robot:summarize_catalog"),
    "Comparison": LazyView(
        "comparison:print_comparison",
        "comparison:summarize_comparison",
        "comparison:make_comparison_figures",
        "comparison:write_comparison_report",
    ),
    "Excitation": LazyView(
        "excitation:print_excitation",
        "excitation:summarize_excitation",
        "excitation_page:make_excitation_figures",
        "excitation_page:write_excitation_report",
    ),
    "Identification": LazyView(
        "identification:print_identification",
        "identification:summarize_identification",
        "identification_plots:make_identification_figures",
        "identification_page:write_identification_report",
    ),
    "Inspection": LazyView("inspection:print_inspection", "inspection:summarize_inspection"),
    "Kernel": _KERNEL,
    "ClosedKernel": _KERNEL,
    "Log": LazyView("log:print_log", "log:summarize_log"),
    "LogCheck": LazyView(
        "log_check:print_log_check",
        "log_check:summarize_log_check",
        "log_check:make_log_check_figures",
        "log_check:write_log_check_report",
    ),
    "Model": LazyView("model:print_model", "model:summarize_model"),
    "PaperReproduction": LazyView("papers:print_paper", "papers:summarize_paper", page="papers:write_paper_report"),
    "PayloadEstimate": LazyView("payload:print_payload", "payload:summarize_payload"),
    "PersistentExcitation": LazyView("model:print_persistent_excitation", "model:summarize_persistent_excitation"),
    "Prediction": LazyView(
        "prediction:print_prediction",
        "prediction:summarize_prediction",
        "prediction:make_prediction_figures",
        "prediction:write_prediction_report",
    ),
    "Regrouping": LazyView("base_parameters:print_regrouping", "base_parameters:summarize_regrouping"),
    "Reproduction": LazyView(
        "papers:print_reproduction", "papers:summarize_reproduction", "papers:make_reproduction_figures"
    ),
    "Robot": LazyView("robot:print_robot", "robot:summarize_robot"),
    "Simulation": LazyView(
        "simulation:print_simulation",
        "simulation:summarize_simulation",
        "simulation_page:make_simulation_figures",
        "simulation_page:write_simulation_report",
    ),
}

register_views(VIEWS)
