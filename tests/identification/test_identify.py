"""identify: joints without equations, threads, memory, and bad arguments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.support.known_arm import known_arm
from ytheta.dynamics.kernels import inverse_dynamics
from ytheta.errors import InputError
from ytheta.identification.identify import identify
from ytheta.logs.preparing.preparation import PreparationSettings
from ytheta.robot.reading.load import load


def test_a_joint_without_equations_does_not_affect_the_others() -> None:
    arm = known_arm()
    slow = identify(arm.robot, arm.held_log(1e-5), min_speed=(0.02, 0.02))
    zero_torque = identify(arm.robot, arm.log(arm.tau * [1.0, 0.0]))
    for fit in (slow, zero_torque):
        values = dict(zip(fit.base.independent, fit.beta, strict=True))
        assert values[f"{arm.robot.actuated[0]}.fv"] == pytest.approx(0.5, abs=0.1)
    (finding,) = (finding for finding in zero_torque.findings if finding.code == "torque")
    assert finding.names == (arm.robot.actuated[1],)


def test_the_result_does_not_depend_on_threads() -> None:
    arm = known_arm()
    one, two = (identify(arm.robot, arm.log(), threads=n) for n in (1, 2))
    np.testing.assert_allclose(one.beta, two.beta, rtol=1e-12)
    np.testing.assert_allclose(one.std, two.std, rtol=1e-9)


def test_single_settings_are_arguments() -> None:
    """cutoff, derivative and average_periods are the fields of the settings with these names."""
    arm = known_arm()
    log = arm.log()
    single = identify(arm.robot, log, cutoff=6.0, derivative="spline")
    whole = identify(arm.robot, log, settings=PreparationSettings(cutoff=6.0, derivative="spline"))
    np.testing.assert_array_equal(single.beta, whole.beta)
    assert single.origin.settings == whole.origin.settings
    assert identify(arm.robot, log).origin.settings != single.origin.settings
    with pytest.raises(InputError, match="cutoff is given as an argument and in settings; keep one of them"):
        identify(arm.robot, log, cutoff=6.0, settings=PreparationSettings())
    with pytest.raises(InputError, match=r"the motion does not repeat|shorter than two periods"):
        identify(arm.robot, log, average_periods=0.37)


def test_results_are_read_only_and_short() -> None:
    arm = known_arm()
    fit = identify(arm.robot, arm.log(), hold_out=30)
    assert fit.validation is not None
    arrays = (fit.beta, fit.std, fit.covariance, fit.correlation, fit.noise, fit.theta, fit.fit.residual)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    for value in (fit.fit, fit.validation, fit.estimate, fit.normal_equations):
        assert len(repr(value)) < 120
        assert "array" not in repr(value)


def test_bad_arguments_are_refused() -> None:
    arm = known_arm()
    log = arm.log()
    for arguments, message in (
        ({"estimator": "wieghted"}, "did you mean 'weighted'"),
        ({"form": "integrall"}, "did you mean 'integral'"),
        ({"friction": ("viscos",)}, "did you mean 'viscous'"),
        ({"friction": "viscous"}, "list of kinds"),
        ({"min_speed": (0.1, 0.1, 0.1)}, "give one for all, or one for each"),
        ({"threads": 0}, "at least 1"),
        ({"min_speed": (1e9, 1e9)}, "no equation is left"),
    ):
        with pytest.raises(InputError, match=message):
            identify(arm.robot, log, **arguments)
    with pytest.raises(InputError, match="as long as a window"):
        identify(arm.robot, log.select_rows(0, 100), form="integral", settings=PreparationSettings(cutoff=8.0))


WITHOUT_SCIPY = """
import sys

import numpy as np

import ytheta as yt

robot = yt.load("lu-two-link")
t = np.arange(2000) / 200.0
q = np.stack([np.sin(2.0 * t) + np.sin(5.0 * t), np.cos(3.0 * t) + np.sin(7.0 * t)], axis=1)
log = {"t": t, "q": q, "tau": yt.inverse_dynamics(robot)(q, np.gradient(q, t, axis=0), np.zeros_like(q))}
yt.predict(robot, log, derivative="spline")
assert "scipy" not in sys.modules, [name for name in sys.modules if name.startswith("scipy")]
for call in (lambda: yt.read_log(log, "lu-two-link"), lambda: yt.identify("lu-two-link", log)):
    try:
        call()
    except yt.errors.InputError as error:
        assert "is not a robot; load it with load(name or path)" in str(error)
    else:
        raise AssertionError
"""


def test_a_prediction_does_not_import_scipy() -> None:
    """Only identifications need it. In a process of its own, which also does not check types, as that of a user."""
    subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], check=True)


MEMORY = """
import sys
from pathlib import Path
import ytheta

def read_memory(name):  # ru_maxrss would count the process that started this one
    return 1024 * int(Path("/proc/self/status").read_text().split(name)[1].split()[0])

robot = ytheta.load("ur10")
for path in sys.argv[1:]:  # the short log: imports, kernels and both threads are counted before the long one
    before = read_memory("VmHWM:")  # not what it still holds: how much it returns depends on the allocator
    log = ytheta.read_log(path, robot)
    ytheta.identify(robot, log, threads=2)
print(read_memory("VmHWM:") - before, log.t.nbytes + log.q.nbytes + log.tau.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux")
def test_a_long_log_needs_little_memory_beside_the_log(tmp_path: Path) -> None:
    robot, samples = load("ur10"), 1_000_000
    t, rng = np.arange(samples) / 1000.0, np.random.default_rng(0)
    q, qd, qdd = np.zeros((3, samples, 6))
    for k in range(1, 6):
        amplitude, w = rng.uniform(-0.5, 0.5, 6), 0.2 * np.pi * k
        phase = w * t[:, None] + rng.uniform(0.0, 2.0 * np.pi, 6)
        q += amplitude * np.sin(phase)
        qd += w * amplitude * np.cos(phase)
        qdd -= w * w * amplitude * np.sin(phase)
    tau = inverse_dynamics(robot)(q, qd, qdd)
    tau += rng.normal(0.0, 1.0, tau.shape)
    columns = {f"{name}{j + 1}": values[:, j] for name, values in (("q", q), ("tau", tau)) for j in range(6)}
    table = pl.DataFrame({"t": t} | columns)
    paths = [tmp_path / "short.parquet", tmp_path / "long.parquet"]
    for path, rows in zip(paths, (60_000, samples), strict=True):
        table.head(rows).write_parquet(path)
    done = subprocess.run([sys.executable, "-c", MEMORY, *map(str, paths)], capture_output=True, text=True, check=True)
    peak, size = (int(figure) for figure in done.stdout.split())
    # 25 MB of prepared motion are stored, two threads prepare pieces, and reading needs a few MB.
    assert peak < size + 55e6
    assert peak > size  # the twin: the log itself is counted


def test_a_joint_without_torque_does_not_enter_the_default_fit() -> None:
    """Its equations say nothing, with a prior as without: their parameters stay undetermined."""
    robot = load("lu-two-link")
    t = np.arange(1500) / 100.0
    q = np.stack([np.sin(2.0 * t), np.cos(3.0 * t)], axis=1)
    tau = np.random.default_rng(0).normal(size=q.shape)
    tau[:, 1] = 0.0
    log = {"t": t, "q": q, "tau": tau}
    for estimator in ("auto", "weighted"):
        fit = identify(robot, log, estimator=estimator, rotor_inertia=False, friction=("viscous",))
        assert np.isinf(fit.std[fit.names.index("joint2.fv")])
        assert np.isfinite(fit.std[fit.names.index("joint1.fv")])  # the twin


def test_a_window_is_refused_by_the_differential_form() -> None:
    robot = load("lu-two-link")
    t = np.arange(500) / 100.0
    q = np.stack([np.sin(2.0 * t), np.cos(3.0 * t)], axis=1)
    with pytest.raises(InputError, match="the differential form has no 'window'"):
        identify(robot, {"t": t, "q": q, "tau": q}, window=0.2)
