"""Delays and other corrections of a mapping: columns are moved in time, and a finding says what was assumed."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError
from ytheta.findings import Severity

ROBOT = yt.load("lu-two-link")
SEED = int(np.random.default_rng().integers(1 << 31))


def record(rng: np.random.Generator, delays: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return a table in which q1, q2, tau1, tau2 are late by these delays, and the functions without a delay."""
    t = np.cumsum(rng.uniform(0.004, 0.006, 2000))
    phases = rng.uniform(0.0, 6.0, 4)

    def move(time: np.ndarray, k: int) -> np.ndarray:
        return np.asarray(np.sin(1.3 * time + phases[k]) + 0.5 * np.sin(2.9 * time))

    names = ("q1", "q2", "tau1", "tau2")
    late = {name: move(t - delays[k], k) for k, name in enumerate(names)}
    return {"t": t, **late}, {"t": t, **{name: move(t, k) for k, name in enumerate(names)}}


def list_corrections(log: yt.Log) -> list[yt.Finding]:
    return [finding for finding in log.findings if finding.code == "corrected"]


def test_delayed_columns_are_moved() -> None:
    rng = np.random.default_rng(SEED)
    delays = rng.uniform(-0.15, 0.15, 4)
    table, true = record(rng, delays)
    mapping = {"delay": {"q": delays[:2].tolist(), "tau": delays[2:].tolist()}}
    moved, unmoved = (yt.read_log(table, ROBOT, mapping=each) for each in (mapping, None))
    for log, is_right in ((moved, True), (unmoved, False)):  # the second is the twin
        assert log.tau is not None
        expected = np.stack([np.interp(log.t, true["t"], true[name]) for name in ("q1", "q2", "tau1", "tau2")], axis=1)
        assert np.allclose(np.hstack([log.q, log.tau]), expected, atol=1e-3) is is_right, SEED
    kept = (true["t"] >= true["t"][0] - min(delays.min(), 0.0)) & (true["t"] <= true["t"][-1] - max(delays.max(), 0.0))
    assert len(moved) == kept.sum()
    (finding,) = list_corrections(moved)
    assert finding.severity is Severity.NOTE
    assert finding.fields == {"delay": {"q": delays[:2].tolist(), "tau": delays[2:].tolist()}}
    assert list_corrections(unmoved) == []


def test_other_corrections_are_reported_and_units_are_not() -> None:
    table, _ = record(np.random.default_rng(1), np.zeros(4))
    mapping = {"scale": {"t": 1.25, "tau": [1.0, 0.3]}, "sign": {"q": [1, -1]}, "offset": {"q": [0, 0.5]}}
    (finding,) = list_corrections(yt.read_log(table, ROBOT, mapping=mapping))
    assert "[scale] t = 1.25, [scale] tau = [1, 0.3], [sign] q = [1, -1], [offset] q = [0, 0.5]" in finding.text
    units = {"scale": {"t": "s", "q": "radians", "tau": ["Nm", "Nmm"]}, "sign": {"q": 1}, "offset": {"q": 0}}
    assert list_corrections(yt.read_log(table, ROBOT, mapping=units)) == []  # the twin


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        ({"t": 0.1}, "the key 't' is unknown"),
        ({"q": 40.0}, "'q' should be in seconds, between -10 and 10"),
        ({"q": [0.1, 0.2, 0.3]}, "a list of 3 numbers for 2 joints"),
        ({"q": 9.99}, "is shorter than the delays of its columns"),
    ],
)
def test_wrong_delays_are_refused(delay: dict[str, object], message: str) -> None:
    table, _ = record(np.random.default_rng(1), np.zeros(4))
    table = {name: values[:1000] for name, values in table.items()}
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        yt.read_log(table, ROBOT, mapping={"delay": delay})
