"""An identification to report: a two-link arm whose second link has a name full of markup."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ytheta
from tests.support.browser import EVIL, Page
from tests.support.paths import ROOT
from ytheta.findings import Finding, Severity
from ytheta.identification.identify import identify
from ytheta.identification.result import Identification
from ytheta.logs.log import Log
from ytheta.report.identification_page import identification_html
from ytheta.robot.robot import Robot

NOISE = 0.05  # N m


def _log(robot: Robot, seed: int, source: str) -> Log:
    """Twenty seconds of a Fourier series, with a gap in it."""
    rng = np.random.default_rng(seed)
    t = np.arange(4000) / 200.0
    q, qd, qdd = (np.zeros((len(t), len(robot.actuated))) for _ in range(3))
    for harmonic in range(1, 6):
        w = 0.2 * np.pi * harmonic
        a, b = rng.normal(size=(2, len(robot.actuated))) / harmonic
        sin, cos = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q += a * sin + b * cos
        qd += w * (a * cos - b * sin)
        qdd -= w**2 * (a * sin + b * cos)
    tau = ytheta.inverse_dynamics(robot)(q, qd, qdd) + NOISE * rng.normal(size=q.shape)
    return Log(robot.actuated, t, q, tau, qd, segments=((0, 1800), (1900, 4000)), source=source)


@pytest.fixture(scope="module")
def identification(tmp_path_factory: pytest.TempPathFactory) -> Identification:
    """A two-link arm whose second link has a wicked name."""
    text = (ROOT / "src" / "ytheta" / "robot" / "catalog" / "lu-two-link.toml").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("robot") / "arm.toml"
    path.write_text(text.replace('"link2"', f'"{EVIL}"'), encoding="utf-8")
    robot = ytheta.load(str(path))
    assert EVIL in {link.name for link in robot.links}
    result = identify(robot, _log(robot, 1, f"{EVIL}.csv"), validate=_log(robot, 2, "other.csv"), friction=())
    gap = Finding("gap", Severity.REPAIRED, f"a gap of 0.5 s in {EVIL}; the log was cut there")
    return replace(result, findings=(*result.findings, gap))


@pytest.fixture(scope="module")
def html(identification: Identification) -> str:
    return identification_html(identification)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)
