"""Work of the motors: torques of inverse dynamics with friction do positive work, reversed ones are noticed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tests.support.log_files import ARM
from ytheta.logs.checking import check as work
from ytheta.logs.checking.check import check_work
from ytheta.logs.log import Log

T = np.arange(1000) / 100.0


def make_motion(*, friction: float, latency: float = 0.0) -> Log:
    """A pendulum and a rotor, from rest to rest, with the torques of their equations of motion."""
    shape = 1.0 - np.cos(2.0 * np.pi * T / T[-1])
    q = np.stack([0.5 * shape * np.cos(3.0 * T), 0.4 * shape * np.sin(2.0 * T)], axis=1)
    qd = np.gradient(q, T, axis=0)
    tau = 0.3 * np.gradient(qd, T, axis=0) + friction * np.tanh(50.0 * qd) + [3.0, 0.0] * np.sin(q)
    late = np.stack([np.interp(T - latency, T, q[:, k]) for k in range(2)], axis=1)
    return Log(ARM.actuated, T, late, tau, qd, segments=((0, len(T)),))


@pytest.mark.parametrize(("friction", "latency"), [(0.0, 0.0), (0.0, 0.005), (0.5, 0.0), (2.0, 0.01)])
def test_correct_torques_are_silent(friction: float, latency: float) -> None:
    assert check_work(make_motion(friction=friction, latency=latency), ARM) == []


def test_fast_motion_with_late_positions_is_silent() -> None:
    """Without friction, 0.4 s with positions that are 10 ms late; the twin has reversed friction only."""
    t = np.arange(201) / 500.0
    angle = np.pi * t / t[-1]
    q = np.stack([np.sin(angle) ** 4, 0.5 * np.sin(angle) ** 4], axis=1)
    tau = 0.3 * np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    late = np.stack([np.interp(t - 0.01, t, q[:, k]) for k in range(2)], axis=1)
    log = Log(ARM.actuated, t, late, tau, segments=((0, len(t)),))
    power = np.sum(0.5 * (tau[1:] + tau[:-1]) * np.diff(late, axis=0), axis=1)
    assert power.sum() < -0.2 * abs(power).sum()  # it looks like reversed torques
    assert check_work(log, ARM) == []
    assert check_work(replace(log, tau=-30.0 * np.gradient(late, t, axis=0)), ARM) != []


def test_reversed_torques_are_reported() -> None:
    log = make_motion(friction=1.0)
    assert log.tau is not None
    (finding,) = check_work(replace(log, tau=-log.tau), ARM)
    assert "reversed" in finding.text
    assert "[sign] tau = -1" in finding.text
    expected = -np.sum(0.5 * (log.tau[1:] + log.tau[:-1]) * np.diff(log.q, axis=0))
    assert finding.fields["work"] == pytest.approx(expected, rel=1e-12)


def test_long_logs_are_judged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work of a log is the sum of that of its parts; the twin: parts that begin with a new row lose a step each."""
    motion = make_motion(friction=1.0)
    reversed_torques = replace(motion, tau=-motion.tau)  # type: ignore[operator]
    (whole,) = check_work(reversed_torques, ARM)
    monkeypatch.setattr(work, "PART_LENGTH", 7)
    (in_parts,) = check_work(reversed_torques, ARM)
    assert in_parts.fields["work"] == pytest.approx(whole.fields["work"], rel=1e-12)

    def iterate_with_gaps(length: int) -> Iterator[slice]:
        return (slice(k, min(k + 7, length)) for k in range(0, length - 1, 7))

    monkeypatch.setattr(work, "_iterate_parts", iterate_with_gaps)
    (with_gaps,) = check_work(reversed_torques, ARM)
    assert with_gaps.fields["work"] != pytest.approx(whole.fields["work"], rel=1e-3)


def test_motions_that_end_at_another_speed_are_not_judged() -> None:
    """A rotor that is braked to rest where it began gives back its energy; the twin: it begins at rest, too."""
    t = np.arange(500) / 100.0
    s = t / t[-1]
    for speed, is_judged in ((4.0, False), (0.0, True)):
        q = np.stack([speed * s * (1.0 - s) ** 3 + (s * (1.0 - s)) ** 2] * 2, axis=1)
        qd = np.gradient(q, t, axis=0)
        tau = 0.3 * np.gradient(qd, t, axis=0) if speed else -qd
        power = np.sum(0.5 * (tau[1:] + tau[:-1]) * np.diff(q, axis=0), axis=1)
        assert power.sum() < -0.2 * abs(power).sum()
        log = Log(ARM.actuated, t, q, tau, segments=((0, len(t)),))
        assert bool(check_work(log, ARM)) == is_judged


def test_motions_that_do_not_return_are_not_judged() -> None:
    """A pendulum that is lowered gives back energy."""
    q = np.stack([np.linspace(1.5, 0.0, 1000), np.zeros(1000)], axis=1)
    lowered = Log(ARM.actuated, T, q, np.array([3.0, 0.0]) * np.sin(q), segments=((0, len(T)),))
    assert check_work(lowered, ARM) == []
    log = make_motion(friction=1.0)
    assert log.tau is not None
    assert check_work(replace(log, tau=-log.tau).select_rows(0, 700), ARM) == []
