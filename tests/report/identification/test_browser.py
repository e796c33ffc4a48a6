"""The page in a browser at two widths, in light and dark: every plot drawn, no error, no request; tables; its size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support.arm_logs import true_arm, write_log
from tests.support.browser import remove_policy
from tests.support.devtools import Tab, open_browser
from ytheta.identification.result import Identification
from ytheta.report.identification_page import write_identification_report

MAX_SIZE = 5_000_000  # bytes of a page, for any number of samples
MILLION = 1_000_000
# All plots that have lines, points, bars or cells; a plot without any would be empty.
COUNT_MARKS = """[...document.querySelectorAll('.plot')].map((plot) => plot.querySelectorAll(
  '.js-line, .point, .points path, .heatmaplayer image, .bars path').length)"""
COLOURS = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def tab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_browser(chromium, tmp_path_factory.mktemp("browser")) as tab:
        yield tab


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> Identification:
    """An arm with friction that the description lacks, and with a validation log."""
    folder = tmp_path_factory.mktemp("arm")
    arm = true_arm(folder)
    logs = [write_log(folder / f"{name}.npz", arm, seed=k, noise=0.1) for k, name in enumerate(("a", "b"))]
    return yt.identify(yt.load("lu-two-link"), logs[0], validate=logs[1])


@pytest.fixture(scope="module")
def page(fit: Identification, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_identification_report(fit, tmp_path_factory.mktemp("page") / "arm.html")


@pytest.fixture(scope="module")
def panda_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with long tables."""
    folder = tmp_path_factory.mktemp("panda")
    robot = yt.load("panda")
    return write_identification_report(
        yt.identify(robot, write_log(folder / "a.npz", robot, noise=0.1)), folder / "panda.html"
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1300, 390])
def test_the_page_is_shown(tab: Tab, page: Path, width: int, dark: bool) -> None:
    tab.open(page, width=width, dark=dark)
    assert tab.console == []
    assert {url.partition(":")[0] for url in tab.requested} <= {"file", "data"}
    assert [url for url in tab.requested if url.startswith("file:")] == [page.as_uri()]
    marks = tab.evaluate(COUNT_MARKS)
    assert len(marks) == tab.evaluate("document.querySelectorAll('script[data-plot]').length")
    assert min(marks) > 0
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("document.querySelectorAll('#robot ellipse').length") == 6  # links and load, twice
    red, green, blue = (int(each) for each in re.findall(r"\d+", tab.evaluate(COLOURS))[:3])
    assert (red + green + blue < 3 * 128) == dark
    narrow = [box for box in tab.evaluate(BOXES) if box < 200]
    assert narrow == []  # plots have a size


BOXES = (
    "[...document.querySelectorAll('.plot .main-svg:first-child')].map((each) => each.getBoundingClientRect().width)"
)


def test_errors_and_requests_would_be_noticed(tab: Tab, page: Path, tmp_path: Path) -> None:
    """The twin: a page with a script error, a request and an empty plot."""
    html = remove_policy(page.read_text(encoding="utf-8"))
    html = re.sub(r'(data-plot="motion-1">\{"data":)\[.*?\](,"layout")', r"\1[]\2", html, count=1, flags=re.DOTALL)
    bad = tmp_path / "bad.html"
    image = '<img src="http://127.0.0.1:9/image.png">'
    bad.write_text(html.replace("</body>", f"{image}<script>missing()</script></body>"), encoding="utf-8")
    tab.open(bad)
    assert any("missing is not defined" in line for line in tab.console)
    assert "http://127.0.0.1:9/image.png" in tab.requested
    assert min(tab.evaluate(COUNT_MARKS)) == 0


def test_long_tables_fold_search_sort_and_copy(tab: Tab, panda_page: Path) -> None:
    tab.open(panda_page)
    tab.evaluate(
        "var table = document.querySelector('#standard'); var tools = table.closest('.table').previousElementSibling"
    )
    rows = tab.evaluate("table.tBodies[0].rows.length")
    shown = "[...table.tBodies[0].rows].filter((row) => row.checkVisibility()).length"
    assert rows >= 60
    assert tab.evaluate(shown) == 12
    tab.evaluate("tools.querySelectorAll('button')[0].click()")
    assert tab.evaluate(shown) == rows
    tab.evaluate(
        "var search = tools.querySelector('input'); search.value = 'link3.m'; search.dispatchEvent(new Event('input'))"
    )
    names = tab.evaluate(
        "[...table.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[0].textContent.trim())"
    )
    assert 1 <= len(names) <= 4
    assert all("link3.m" in name for name in names)
    tab.evaluate(
        "search.value = ''; search.dispatchEvent(new Event('input')); tools.querySelectorAll('button')[0].click()"
    )
    tab.evaluate("table.tHead.rows[0].cells[4].click()")
    values = tab.evaluate("[...table.tBodies[0].rows].map((row) => Number(row.cells[4].dataset.sort))")
    assert values == sorted(values)
    assert tab.evaluate(shown) == 12  # the first ones of the new order
    assert tab.evaluate("table.tBodies[0].rows[0].checkVisibility()")
    tab.evaluate("var copied = ''; navigator.clipboard.writeText = async (text) => { copied = text; }")
    tab.evaluate("tools.querySelectorAll('button')[1].click()")
    copied = tab.evaluate("copied").splitlines()
    assert len(copied) == rows + 1
    assert copied[0].split("\t")[0] == "standard parameter"
    assert len({line.count("\t") for line in copied}) == 1


DRAWN_BOX = """(() => {
  const box = [[], []];
  const number = (node, name) => Number(node.getAttribute(name));
  for (const bone of document.querySelectorAll('#robot .bone')) {
    for (const end of '12') { box[0].push(number(bone, 'x' + end)); box[1].push(number(bone, 'y' + end)); }
  }
  for (const each of document.querySelectorAll('#robot ellipse')) {
    const turned = parseFloat(each.getAttribute('transform').slice(7)) * Math.PI / 180;
    for (const [k, name] of ['cx', 'cy'].entries()) {
      const angle = turned + k * Math.PI / 2;
      const half = Math.hypot(number(each, 'rx') * Math.cos(angle), number(each, 'ry') * Math.sin(angle));
      box[k].push(number(each, name) - half, number(each, name) + half);
    }
  }
  return box.map((values) => [Math.min(...values), Math.max(...values)]);
})()"""


def assert_frame_is_filled(tab: Tab) -> None:
    """The drawing touches the margin of its frame of 640 x 420 on two sides, and does not leave the frame."""
    (left, right), (top, bottom) = tab.evaluate(DRAWN_BOX)
    assert max((right - left) / 600.0, (bottom - top) / 380.0) == pytest.approx(1.0, abs=0.02)
    assert min(left, top) >= 18.0
    assert right <= 622.0
    assert bottom <= 402.0


def test_the_drawing_turns(tab: Tab, page: Path) -> None:
    tab.open(page)
    read = "[...document.querySelectorAll('#robot ellipse')].map((each) => each.getAttribute('transform'))"
    before = tab.evaluate(read)
    assert_frame_is_filled(tab)
    tab.evaluate("document.querySelector('#robot').scrollIntoView({block: 'center'})")
    x, y = tab.evaluate(
        "(({x, y, width, height}) => [x + width / 2, y + height / 2])"
        "(document.querySelector('#robot svg').getBoundingClientRect())"
    )
    for kind, dx in (("mousePressed", 0), ("mouseMoved", 60), ("mouseReleased", 60)):
        tab.call("Input.dispatchMouseEvent", type=kind, x=x + dx, y=y, button="left", buttons=1, clickCount=1)
    assert tab.evaluate(read) != before
    assert_frame_is_filled(tab)  # in another view too
    tab.evaluate("document.querySelector('#robot [data-turn]').click()")
    assert tab.evaluate(read) == before
    tab.evaluate("document.querySelector('#robot [data-show=before]').click()")
    assert tab.evaluate("document.querySelectorAll('#robot ellipse').length") == 3


def test_a_million_samples(tab: Tab, tmp_path: Path) -> None:
    robot = true_arm(tmp_path)
    rng, t = np.random.default_rng(1), np.arange(MILLION) / 1000.0
    q, qd, qdd = np.zeros((3, MILLION, 2))
    for frequency in (0.31, 0.73, 1.17):
        angle = 2.0 * np.pi * frequency * t[:, None] + rng.uniform(0.0, 6.0, 2)
        rate, size = 2.0 * np.pi * frequency, rng.uniform(0.3, 0.8, 2)
        q += size * np.sin(angle)
        qd += size * rate * np.cos(angle)
        qdd -= size * rate**2 * np.sin(angle)
    tau = yt.inverse_dynamics(robot)(q, qd, qdd) + 0.1 * rng.normal(size=q.shape)
    fit = yt.identify(yt.load("lu-two-link"), {"t": t, "q": q, "qd": qd, "tau": tau})
    path = write_identification_report(fit, tmp_path / "million.html")
    assert path.stat().st_size < MAX_SIZE
    tab.open(path)
    assert tab.console == []
    assert min(tab.evaluate(COUNT_MARKS)) > 0
