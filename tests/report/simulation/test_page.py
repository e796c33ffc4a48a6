"""What is shown of a simulation: page, text and JSON; and plots of lines and pages of figures by themselves."""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import ytheta
from tests.support.browser import EVIL, LOADS, Page, _opened
from tests.support.paths import ROOT
from tests.support.simulate_cases import LEARN, PUMA, slotine_li, starts, swing
from ytheta.control.laws.computed_torque import ComputedTorque
from ytheta.control.laws.law import Law
from ytheta.control.laws.slotine_li import SlotineLi
from ytheta.errors import InputError, MissingExtraError
from ytheta.report.figures_page import Figure, figures_html, write_figures
from ytheta.report.line_plot import COLOURS, FAINT, MARK, MOST, Axis, Band, Line, Place, line_plot, thinned, wide
from ytheta.report.numbers import plain
from ytheta.report.simulation.figures import QUANTILES, Figures
from ytheta.report.simulation.page import simulation_html, write_simulation_report
from ytheta.report.simulation.plots import FEW, NAMED
from ytheta.report.simulation.settings import settings, written
from ytheta.report.simulation.summary import simulation_summary
from ytheta.report.simulation.tables import lost, shown
from ytheta.report.simulation.text import DOZEN, simulation_text
from ytheta.robot.robot import Robot
from ytheta.simulation.closed_loop.compiled import ClosedLoop
from ytheta.simulation.parameter_changes import ParameterChange
from ytheta.simulation.references.reference import sample_reference
from ytheta.simulation.result import Simulation
from ytheta.simulation.sensors.sensors import Sensor, Sensors

RUNS, GONE = 24, (3, 11, 17)  # runs of the batch, and those with a load no robot can hold
FIXED = {
    "robot", "controller", "plant", "seconds", "runs", "finished", "tracking_rms", "last_tracking_rms",
    "parameter_error", "initial_parameter_error", "joints", "parameters", "quantiles", "advice",
}  # fmt: skip


def simulated(
    robot: Robot,
    law: Law,
    seconds: float,
    *,
    runs: int = 1,
    loads: np.ndarray | None = None,
    parameter_changes: tuple[ParameterChange, ...] = (),
    sensors: Sensors | None = None,
) -> Simulation:
    """Closed loops that begin beside the reference, with a wrong estimate; ``loads`` are the masses of the runs."""
    varied = tuple({name for change in parameter_changes for name in change.values} | ({"load.m"} if loads is not None else set()))
    loop = ClosedLoop(plant=robot, controller=law, varied=varied, sensors=sensors)
    q, qd = starts(robot, runs, spread=0.02)
    rng = np.random.default_rng(5)
    estimate = law.unknowns.nominal * np.exp(0.3 * rng.normal(size=(runs, len(law.unknown_names))))
    given = {} if loads is None else {"load.m": loads}
    start = loop.init(q, qd, estimate=estimate, parameters=given)
    course = swing(robot)
    found = loop.run(start, course, seconds, parameter_changes=parameter_changes, rng=np.random.default_rng(1))
    theta = np.tile(robot.numeric.theta, (runs, 1))
    if loads is not None:
        theta[:, robot.parameter_names.index("load.m")] = loads
    return Simulation(
        robot=robot,
        controller=law,
        plant="own",
        period=1e-3,
        reference=sample_reference(course, robot, found.t),
        runs=found,
        theta=theta,
        parameter_changes=parameter_changes,
        sensors=sensors,
    )


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """One run of a two-link arm with wicked names; its torques are limited."""
    text = (ROOT / "src" / "ytheta" / "robot" / "catalog" / "lu-two-link.toml").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("robot") / "arm.toml"
    path.write_text(text.replace('"link2"', f'"{EVIL}"').replace('"joint2"', f'"{EVIL}j"'), encoding="utf-8")
    robot = replace(ytheta.load(str(path)), name=f"{EVIL} arm")
    law = SlotineLi(
        robot, convergence=10.0, damping=[8.0, 6.0], adaptation=2.0, learn=(f"{EVIL}.m",), torque_limits=60.0
    )
    return simulated(robot, law, 1.0)


@pytest.fixture(scope="module")
def batch() -> Simulation:
    """Runs of an arm with different loads; some of them are lost."""
    loads = 0.5 * np.exp(0.3 * np.random.default_rng(2).normal(size=RUNS))
    loads[list(GONE)] = [-30.0, -28.0, -26.0]
    return simulated(PUMA, slotine_li(PUMA, LEARN), 1.0, runs=RUNS, loads=loads)


@pytest.fixture(scope="module")
def crowd() -> Simulation:
    """A controller that learns all parameters of all links."""
    return simulated(PUMA, SlotineLi(PUMA, convergence=10.0, damping=8.0, adaptation=0.01), 0.5)


@pytest.fixture(scope="module")
def page(found: Simulation) -> Page:
    return Page(simulation_html(found))


class Tables(HTMLParser):
    """The cells of every table by its id: text, and the number to sort by."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: dict[str, list[list[tuple[str, str | None]]]] = {}
        self._table = ""
        self._cell: str | None = None
        self._sort: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "table":
            self._table = given.get("id") or ""
            self.rows[self._table] = []
        elif tag == "tr":
            self.rows[self._table].append([])
        elif tag in ("th", "td"):
            self._cell, self._sort = "", given.get("data-sort")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td") and self._cell is not None:
            self.rows[self._table][-1].append((self._cell.strip(), self._sort))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell += data


def parsed(text: str) -> float:
    """A number as the page writes it."""
    plainer = text.replace("\u202f", "").replace("−", "-").removesuffix("%").strip()
    mantissa, _, power = plainer.partition("·10")
    exponent = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    return float(mantissa) * 10.0 ** int(exponent or 0)


def plotted(plot: dict[str, object]) -> dict[str, list[tuple[np.ndarray, np.ndarray]]]:
    """x and y of the lines by their names."""
    lines: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for trace in plot["data"]:  # type: ignore[attr-defined]
        pair = tuple(np.frombuffer(base64.b64decode(trace[k]["bdata"]), trace[k]["dtype"]) for k in "xy")
        lines.setdefault(trace["name"], []).append(pair)  # type: ignore[arg-type]
    return lines


def only(plot: dict[str, object], name: str) -> np.ndarray:
    ((_, y),) = plotted(plot)[name]
    return y


def plot_of(page: Page, name: str) -> dict[str, object]:
    data: dict[str, object] = json.loads(page.scripts[name])
    return data


# --- the JSON


def test_fixed_keys_and_figures(found: Simulation) -> None:
    data = simulation_summary(found)
    assert set(data) >= FIXED
    assert data == json.loads(json.dumps(data, allow_nan=False))
    assert data["tracking_rms"] == pytest.approx(float(found.tracking_rms[0]), rel=1e-12)
    assert data["parameter_error"] == pytest.approx(float(found.parameter_error[0]), rel=1e-12)
    assert data["initial_parameter_error"] == pytest.approx(float(found.initial_parameter_error[0]), rel=1e-12)
    assert data["last_tracking_rms"] == pytest.approx(float(np.sqrt(np.mean(found.last_rms**2))), rel=1e-12)
    assert (data["runs"], data["finished"], data["quantiles"], data["advice"]) == (1, 1, None, "")
    assert [joint["name"] for joint in data["joints"]] == list(found.robot.actuated)
    assert [joint["largest_torque"] for joint in data["joints"]] == abs(found.runs.tau[0]).max(axis=0).tolist()
    assert [joint["torque_limit"] for joint in data["joints"]] == [60.0, 60.0]
    (row,) = data["parameters"]
    truth, start, end = found.truth[0, 0], found.initial_estimate[0, 0], found.estimate[0, 0]
    assert row == {"name": f"{EVIL}.m", "truth": truth, "start": start, "end": end}
    assert abs(start - truth) > 1e-3


def test_lost_runs_spoil_nothing(batch: Simulation) -> None:
    assert np.flatnonzero(~batch.finished).tolist() == list(GONE)
    data = simulation_summary(batch)
    stayed = batch.finished
    assert data["tracking_rms"] == pytest.approx(np.sqrt(np.mean(batch.runs.rms[stayed] ** 2)), rel=1e-12)
    assert data["tracking_rms"] < 0.1 * np.sqrt(np.mean(batch.runs.rms**2))  # what lost runs would have made of it
    assert data["parameter_error"] == pytest.approx(np.median(batch.parameter_error[stayed]), rel=1e-12)
    assert data["finished"] == RUNS - len(GONE)
    assert {row["run"]: row["t"] for row in data["lost"]} == {k: batch.runs.diverged_at[k] for k in GONE}
    assert data["quantiles"]["percent"] == [5.0, 50.0, 95.0]
    for key, values in (("tracking_rms", batch.tracking_rms), ("parameter_error", batch.parameter_error)):
        assert data["quantiles"][key] == pytest.approx(np.quantile(values[stayed], QUANTILES), rel=1e-12)
    assert "left all bounds" in data["advice"]
    order = np.argsort(batch.tracking_rms[stayed])
    assert data["shown_run"] == np.flatnonzero(stayed)[order[(len(order) - 1) // 2]]


def all_lost(batch: Simulation) -> Simulation:
    return replace(batch, runs=replace(batch.runs, diverged_at=np.linspace(0.2, 0.4, RUNS)))


def test_where_all_is_lost_or_nothing_learnt(batch: Simulation) -> None:
    gone = simulation_summary(all_lost(batch))
    assert json.loads(json.dumps(gone, allow_nan=False))["tracking_rms"] is None
    assert (gone["parameter_error"], gone["finished"], gone["quantiles"]) == (None, 0, None)
    assert gone["shown_run"] == RUNS - 1
    assert {joint["largest_torque"] for joint in gone["joints"]} == {None}
    law = ComputedTorque(PUMA, stiffness=100.0, damping=20.0)
    still = simulated(PUMA, law, 0.3)
    data = simulation_summary(still)
    assert (data["parameter_error"], data["initial_parameter_error"], data["parameters"]) == (None, None, [])
    assert data["tracking_rms"] > 0.0
    text = Page(simulation_html(still)).text
    assert "nothing is learnt" in text
    assert "Learnt" in text
    assert "Parameters" not in text
    assert "Parameters" in Page(simulation_html(batch)).text


# --- the page


def test_names_are_escaped_and_nothing_is_loaded(found: Simulation, page: Page) -> None:
    html = simulation_html(found, course_note=EVIL)
    assert EVIL not in html
    assert EVIL in Page(html).text
    assert f"{EVIL} arm" in page.text
    loads = [value for _, given in page.tags for key in LOADS if (value := given.get(key)) is not None]
    assert loads == ["data:,"]
    for word in ("http", "url(", "@import"):
        assert word not in page.styles
    assert not {"iframe", "object", "embed", "base"} & {tag for tag, _ in page.tags}


def test_the_page_holds_the_json(found: Simulation, page: Page) -> None:
    assert json.loads(page.scripts["ytheta"]) == simulation_summary(found)
    assert Figures(found).headline in page.text
    assert f"ytheta {ytheta.__version__}" in page.text


def test_tables_parse_back(batch: Simulation) -> None:
    rows = Tables(simulation_html(batch)).rows
    figures = Figures(batch)
    columns = np.stack([figures.tracking, figures.last_tracking, figures.largest_torque], axis=1)
    assert [row[0][0] for row in rows["joints"][1:]] == list(PUMA.actuated)
    for row, own in zip(rows["joints"][1:], columns, strict=True):
        assert [parsed(text) for text, _ in row[1:4]] == pytest.approx(own, rel=6e-3)  # three digits
        assert [float(sort or "") for _, sort in row[1:4]] == pytest.approx(own, rel=1e-12)
    run = figures.shown
    assert [row[0][0] for row in rows["parameters"][1:]] == list(batch.unknown_names)
    for k, row in enumerate(rows["parameters"][1:]):
        own = (batch.truth[run, k], batch.initial_estimate[run, k], batch.estimate[run, k])
        assert [parsed(text) for text, _ in row[1:4]] == pytest.approx(own, rel=6e-4)  # four digits
        assert parsed(row[4][0]) == pytest.approx(100.0 * (own[2] - own[0]) / own[0], rel=6e-3)
    for row, values in zip(rows["quantiles"][1:], figures.quantiles.values(), strict=True):
        scale = 100.0 if row[1][0].endswith("%") else 1.0
        assert [parsed(text) / scale for text, _ in row[1:]] == pytest.approx(values, rel=6e-3)
    assert len(rows["quantiles"]) == 5


def test_plots_are_those_of_the_run(found: Simulation, page: Page) -> None:
    for j in range(2):
        tracking, torque = plot_of(page, f"tracking-{j + 1}"), plot_of(page, f"torque-{j + 1}")
        np.testing.assert_array_equal(only(tracking, "position"), found.runs.q[0, :, j].astype(np.float32))
        np.testing.assert_array_equal(only(tracking, "reference"), found.reference.q[:, j].astype(np.float32))
        error = found.runs.q[0, :, j] - found.reference.q[:, j]
        np.testing.assert_array_equal(only(tracking, "error"), error.astype(np.float32))
        np.testing.assert_array_equal(only(torque, "torque"), found.runs.tau[0, :, j].astype(np.float32))
    near = [abs(found.runs.tau[0, :, j]).max() > 60.0 / 2.5 for j in range(2)]
    assert [("limit" in plotted(plot_of(page, f"torque-{j + 1}"))) for j in range(2)] == near == [True, False]
    parameter = plot_of(page, "parameter-1")
    np.testing.assert_array_equal(only(parameter, "estimate"), found.runs.estimate[0, :, 0].astype(np.float32))
    np.testing.assert_allclose(only(parameter, "truth"), found.truth[0, 0], rtol=1e-6)
    first, second = parameter["data"]  # type: ignore[misc]
    assert first["line"]["color"] == second["line"]["color"]  # type: ignore[has-type]
    assert (first["line"]["dash"], second["line"]["dash"]) == ("dash", "solid")  # type: ignore[has-type]
    V = only(plot_of(page, "lyapunov"), "V")
    np.testing.assert_allclose(V, found.lyapunov(0), rtol=1e-6)


def test_many_parameters_are_shown_by_their_units(crowd: Simulation) -> None:
    assert len(crowd.unknown_names) > FEW
    page = Page(simulation_html(crowd))
    names = [name for name in page.scripts if re.fullmatch(r"parameter-\d+", name)]
    assert len(names) == 3  # kg, kg m, kg m²
    lines = {name: pairs[0][1] for plot in names for name, pairs in plotted(plot_of(page, plot)).items()}
    assert set(lines) == set(crowd.unknown_names)
    wrong = crowd.runs.estimate[0] - crowd.truth_of(0)
    for k, name in enumerate(crowd.unknown_names):
        np.testing.assert_allclose(lines[name], wrong[:, k], rtol=1e-6, atol=1e-9)
    for plot in names:
        assert sum(trace["showlegend"] for trace in plot_of(page, plot)["data"]) <= NAMED  # type: ignore[attr-defined]
    assert sorted(page.parameters) == sorted(crowd.unknown_names)
    together = only(plot_of(page, "parameter-error"), "parameter error")
    assert together[0] == pytest.approx(100.0 * crowd.initial_parameter_error[0], rel=1e-5)


def test_how_runs_are_spread(batch: Simulation) -> None:
    page = Page(simulation_html(batch))
    figures, stayed = Figures(batch), batch.finished
    errors = np.sqrt(np.mean(batch.tracking_error[stayed] ** 2, axis=2))
    ((x, y),) = plotted(plot_of(page, "tracking-error"))["median"]
    np.testing.assert_allclose(x, batch.runs.t, rtol=1e-6)
    np.testing.assert_allclose(y, np.median(errors, axis=0), rtol=1e-6)
    ((_, band),) = plotted(plot_of(page, "tracking-error"))["5 … 95 % of the runs"]
    outline = np.concatenate([np.quantile(errors, 0.95, axis=0), np.quantile(errors, 0.05, axis=0)[::-1]])
    np.testing.assert_allclose(band, outline, rtol=1e-6)
    wrong = (
        np.linalg.norm(batch.runs.estimate - batch.truth[:, None], axis=2)
        / np.linalg.norm(batch.truth, axis=1)[:, None]
    )
    median = only(plot_of(page, "parameter-error"), "median")
    np.testing.assert_allclose(median, 100.0 * np.median(wrong[stayed], axis=0), rtol=1e-5)
    assert median[-1] != pytest.approx(100.0 * np.median(wrong[:, -1]), rel=1e-3)  # lost runs would be seen
    steps = only(plot_of(page, "tracking-histogram"), "tracking RMS")
    assert steps[1:-1:2].sum() == stayed.sum()
    for name in ("start", "end"):
        assert only(plot_of(page, "parameter-histogram"), name)[1:-1:2].sum() == stayed.sum()
    for text in (shown(figures), lost(figures), f"run {figures.shown}", "3 of 24 runs lost", f"{RUNS - 3} / {RUNS}"):
        assert text in page.text
    position = only(plot_of(page, "tracking-1"), "position")
    np.testing.assert_array_equal(position, batch.runs.q[figures.shown, :, 0].astype(np.float32))


def test_a_lost_run_is_shown_until_it_was(batch: Simulation) -> None:
    gone = all_lost(batch)
    page = Page(simulation_html(gone))
    assert "24 of 24 runs lost" in page.text
    assert gone.advice[1:] in page.text
    assert "tracking-histogram" not in page.scripts
    for plot, name in (("tracking-2", "position"), ("torque-2", "torque"), ("parameter-1", "estimate")):
        known = np.isfinite(only(plot_of(page, plot), name))
        np.testing.assert_array_equal(known, gone.runs.t < 0.4)


def test_jumps_are_marked() -> None:
    parameter_changes = (ParameterChange(0.3, {"load.m": 1.5}),)
    found = simulated(PUMA, slotine_li(PUMA, LEARN), 0.6, parameter_changes=parameter_changes)
    page = Page(simulation_html(found))
    for plot in ("tracking-1", "torque-1", "parameter-1", "parameter-error", "lyapunov"):
        (mark,) = plot_of(page, plot)["layout"]["shapes"]  # type: ignore[index]
        assert mark["x0"] == mark["x1"] == 0.3
    truth = only(plot_of(page, "parameter-2"), "truth")
    np.testing.assert_allclose(truth, np.where(found.runs.t < 0.3 - 1e-9, 0.5, 1.5), rtol=1e-6)
    assert "load.m = 1.5" in page.text
    still = Page(simulation_html(replace(found, parameter_changes=())))
    assert "shapes" not in plot_of(still, "tracking-1")["layout"]  # type: ignore[operator]


def test_settings_in_words(found: Simulation, batch: Simulation) -> None:
    own = dict(settings(Figures(found), "a sine"))
    assert (own["Convergence"], own["Damping"], own["Adaptation"]) == ("10", "8, 6", "2")
    assert own["Torque limits"].startswith("60;")
    assert (own["Reference"], own["Sensors"]) == ("a sine", "without errors")
    assert own["Learnt"] == f"1 parameter: {EVIL}.m"
    assert "1 of 66 parameters differs from run to run" in dict(settings(Figures(batch), ""))["Plant"]
    noisy = simulated(PUMA, slotine_li(PUMA, LEARN), 0.2, sensors=Sensors(q=Sensor(noise=1e-4), qd=Sensor(bias=0.02)))
    said = dict(settings(Figures(noisy), ""))["Sensors"]
    assert said == "position noise 0.0001; velocity bias 0.02"
    assert written(np.diag([1.0, 2.0])) == "diagonal 1, 2"
    assert written([[2.0, 1.0], [1.0, 2.0]]) == "2 × 2 matrix, diagonal 2 for each of 2"
    assert written(np.linspace(0.5, 4.0, 30)) == "30 numbers, 0.5 … 4"
    assert written(Sensor(noise=0.5)).startswith("Sensor (noise 0.5")


def test_the_file_appears_whole_or_not_at_all(found: Simulation, tmp_path: Path) -> None:
    path = write_simulation_report(found, tmp_path / "arm.html")
    assert [each.name for each in tmp_path.iterdir()] == ["arm.html"]
    assert path.stat().st_size < 3_000_000
    with pytest.raises(InputError, match="cannot be written"):
        write_simulation_report(found, tmp_path / "nowhere" / "arm.html")


@pytest.mark.parametrize("name", ["simulation.page", "figures_page"])
def test_missing_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.delitem(sys.modules, f"ytheta.report.{name}")
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'ytheta[report]'")):
        import_module(f"ytheta.report.{name}")


# --- the terminal


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_text_fits(batch: Simulation, crowd: Simulation, width: int) -> None:
    for simulation in (batch, crowd):
        text = simulation_text(simulation, width=width)
        figures = Figures(simulation)
        fitting = [line for line in text.splitlines() if line != simulation.advice]
        assert max(map(len, fitting)) <= width
        for values in (figures.tracking, figures.last_tracking, figures.largest_torque):
            for value in values:
                assert f"{plain(value)} " in text
        for each in figures.worst()[:DOZEN]:
            for value in (each.truth, each.start, each.end):
                assert plain(value, 4) in text
    assert text.count("…") == 0  # no name is cut


def test_the_text_of_a_batch(batch: Simulation) -> None:
    text = simulation_text(batch, width=80)
    figures = Figures(batch)
    assert " ".join(text.split()).startswith(figures.headline)
    assert text.splitlines()[-1] == batch.advice
    for level, value in zip((5, 50, 95), figures.quantiles["parameter_error"], strict=True):
        assert f"{level} %" in text
        assert f"{plain(100.0 * value)} %" in text
    assert f"{RUNS - len(GONE)} runs" in text
    assert f"run {figures.shown}, the median" in text
    gone = simulation_text(all_lost(batch), width=80)
    assert "all 24 runs left all bounds" in " ".join(gone.split())
    assert "–" in gone
    assert "nan" not in gone


def test_a_dozen_unless_asked(crowd: Simulation) -> None:
    short, long = simulation_text(crowd), simulation_text(crowd, verbose=True)
    assert len(crowd.unknown_names) > DOZEN
    assert sum(name in short.split() for name in crowd.unknown_names) == DOZEN
    assert f"all {len(crowd.unknown_names)}: --verbose" in short
    assert all(name in long.split() for name in crowd.unknown_names)
    assert "--verbose" not in long
    worst = Figures(crowd).worst()
    masses = [each for each in worst if each.unknown.endswith(".m")]
    wrong = [abs(each.end - each.truth) for each in masses]
    assert wrong == sorted(wrong, reverse=True)
    assert masses[0].unknown in short


def test_stars_mark_base_parameters() -> None:
    base = ytheta.base_parameters(PUMA)
    law = SlotineLi(PUMA, base, convergence=10.0, damping=8.0, adaptation=0.01)
    found = simulated(PUMA, law, 0.1)
    figures = Figures(found)
    assert [each.name for each in figures.parameters] == list(base.names)
    assert any(name.endswith("*") for name in base.names)
    page = Page(simulation_html(found))
    assert page.parameters == list(base.names)
    assert [row["name"] for row in simulation_summary(found)["parameters"]] == list(base.independent)
    assert f"{len(base)} of them base parameters" in page.text


# --- plots of lines


def test_thinning_keeps_peaks() -> None:
    y = np.sin(np.linspace(0.0, 9.0, 50_001))
    y[31_234], y[40_001] = 7.0, -5.0
    y[100:200] = np.nan
    kept = thinned(y)
    assert len(kept) <= MOST
    assert (np.diff(kept) > 0).all()
    assert {0, 31_234, 40_001, 50_000} <= set(kept.tolist())
    assert not {31_234, 40_001} & set(np.arange(0, 50_001, 26).tolist())  # every 26th would have missed both
    assert np.isnan(y[kept]).any()  # a gap stays one
    np.testing.assert_array_equal(thinned(y[:MOST]), np.arange(MOST))


def test_line_plot_axes() -> None:
    t = np.linspace(0.0, 1.0, 11)
    lines = [Line("a<b", t - 0.5), Line("c", t + 1.0, axis=1, dashed=True, colour=2)]
    plot = json.loads(line_plot(t, lines, [Axis("V", "J", log=True), Axis("q", "rad", place=Place.RIGHT)]))
    assert [trace["name"] for trace in plot["data"]] == ["a&lt;b", "c"]
    assert [trace["line"]["color"] for trace in plot["data"]] == [COLOURS[0], COLOURS[2]]
    assert (plot["layout"]["yaxis"]["type"], plot["layout"]["yaxis"]["title"]["text"]) == ("log", "V / J")
    assert (plot["layout"]["yaxis2"]["side"], plot["layout"]["yaxis2"]["overlaying"]) == ("right", "y")
    np.testing.assert_array_equal(np.isnan(only(plot, "a&lt;b")), t <= 0.5)
    below = json.loads(line_plot(t, lines, [Axis("V"), Axis("q")]))
    assert below["layout"]["yaxis2"]["domain"][1] < below["layout"]["yaxis"]["domain"][0]
    assert "overlaying" not in below["layout"]["yaxis2"]
    assert not np.isnan(only(below, "a&lt;b")).any()
    assert "<" not in line_plot(t, lines, [Axis("V"), Axis("q")])
    with pytest.raises(InputError, match="one axis or two"):
        line_plot(t, lines, [Axis("V")])
    with pytest.raises(InputError, match="3 values at 11 places"):
        line_plot(t, [Line("a", np.zeros(3))], [Axis("V")])
    band = json.loads(line_plot(t, [], [Axis("V", log=True)], bands=[Band("b", t - 0.5, t + 1.0)]))
    assert (only(band, "b") > 0.0).all()
    assert [wide(np.array(values)) for values in ([1.0, 20.0], [1.0, 40.0], [-1.0, np.nan])] == [False, True, False]


def test_every_colour_has_one_of_the_dark_theme() -> None:
    css = (ROOT / "src" / "ytheta" / "report" / "templates" / "page.css").read_text(encoding="utf-8")
    for colour in (*COLOURS, FAINT, MARK):
        assert f'[style*="stroke: {colour}"]' in css
    assert '[style*="stroke: rgb(1, 2, 3)"]' not in css


def test_figures_page(tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 11)
    figures = [
        Figure(f"Fig. {k} {EVIL}", f"caption {k} {EVIL}", line_plot(t, [Line(EVIL, k * t)], [Axis("V")]))
        for k in (1, 2)
    ]
    html = figures_html(f"All {EVIL}", figures, about="Drawn again.")
    assert EVIL not in html
    page = Page(html)
    for text in (f"All {EVIL}", "Drawn again.", *(f"caption {k} {EVIL}" for k in (1, 2))):
        assert text in page.text
    (((_, y),),) = plotted(plot_of(page, "figure-2")).values()
    np.testing.assert_allclose(y, 2.0 * t, rtol=1e-6)
    assert json.loads(page.scripts["ytheta"])["figures"][0]["caption"] == f"caption 1 {EVIL}"
    assert write_figures("All", figures, tmp_path / "all.html").stat().st_size < 3_000_000


# --- in a real browser


@pytest.fixture(scope="module")
def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if where := shutil.which(name):
            return where
    pytest.skip("no Chromium is installed, so the report is not opened in a browser (apt-get install chromium)")


def drawn(dom: str) -> list[str]:
    return [given["id"] or "" for _, given in Page(dom).tags if "js-plotly-plot" in (given.get("class") or "")]


def test_a_browser_shows_one_run(chromium: str, found: Simulation, tmp_path: Path) -> None:
    dom, console = _opened(chromium, write_simulation_report(found, tmp_path / "arm.html"))
    assert console == []
    assert drawn(dom) == ["tracking-1", "tracking-2", "torque-1", "torque-2", "parameter-1", "lyapunov"]
    assert "needs JavaScript" not in Page(dom).text
    strokes = [given.get("style") or "" for tag, given in Page(dom).tags if given.get("class") == "js-line"]
    assert len(strokes) == 3 * 2 + 1 + 2 + 1 + 2 + 1  # tracking, torques with the limits of one, estimate and truth, V
    assert all(
        any(f"stroke: {colour}" in style for colour in (*COLOURS, FAINT)) for style in strokes
    )  # as the CSS asks


def test_a_browser_shows_many_runs(chromium: str, batch: Simulation, tmp_path: Path) -> None:
    path = write_simulation_report(batch, tmp_path / "arm.html")
    dom, console = _opened(chromium, path)
    assert console == []
    assert drawn(dom)[:4] == ["tracking-histogram", "parameter-histogram", "tracking-error", "parameter-error"]
    assert len(drawn(dom)) == 4 + 4 + 4 + 2 + 1
    html = path.read_text(encoding="utf-8").replace('data-plot="torque-1">{', 'data-plot="torque-1">{{')
    path.write_text(html, encoding="utf-8")
    dom, console = _opened(chromium, path)
    assert any("JSON" in line for line in console)  # a plot that is none is heard of
    assert len(drawn(dom)) == 8


def test_a_browser_shows_figures(chromium: str, tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 11)
    axes = [Axis("V", log=True), Axis("q", "rad", place=Place.RIGHT)]
    plot = line_plot(t, [Line(EVIL, t), Line("b", t, axis=1)], axes, bands=[Band("c", t, t + 1.0)], marks=[0.5])
    dom, console = _opened(chromium, write_figures(EVIL, [Figure("one", "", plot)], tmp_path / "one.html"))
    assert console == []
    assert drawn(dom) == ["figure-1"]
    assert EVIL in Page(dom).text
