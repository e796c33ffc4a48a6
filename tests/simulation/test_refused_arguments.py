"""Arguments of simulation and control that are wrong: each gets one sentence that says what to give."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ytheta as yt
from tests.support.paths import ROOT
from ytheta.control import ControllerSettings, PIDFeedback, SlotineLi, Walker, create_controller
from ytheta.errors import InputError

ARM = yt.load("lu-two-link")
CHANGE = yt.ParameterChange(0.1, {"link1.m": 1.0})


SIMULATE: list[tuple[dict[str, Any], str]] = [
    ({"grasp": 1.0}, r"grasp is 1; give grasp\(mass, t\)"),
    ({"sensors": yt.Sensor(noise=0.1)}, r"sensors is Sensor.*; give Sensors\("),
    ({"sensors": {"q": {"noise": 0.1}}}, r"sensors is \{.*; give Sensors\("),
    ({"variation": {"spread": 20.0}}, r"variation is \{'spread': 20.0\}; give Variation\("),
    ({"parameter_changes": CHANGE}, "parameter_changes is ParameterChange.*; give a list"),
    ({"parameter_changes": [3]}, "an entry of parameter_changes is 3; give a list"),
    ({"rng": None}, r"the random seed \(rng\) is None; give a whole number"),
    ({"rng": -1}, r"the random seed \(rng\) is -1; give"),
    ({"rate": None}, "rate is None; give a number of Hz from 0.1 to 1e"),
    ({"rate": 1e-308}, "rate is 1e-308; give a number of Hz"),
    ({"rate": 1e308}, "rate is 1e[+]308; give a number of Hz"),
    ({"seconds": "a"}, "seconds is 'a'; give a positive number of seconds"),
    ({"engine": None}, "engine is None; give 'local'"),
    ({"runs": 1.5}, "runs is 1.5; give a whole number"),
    ({"runs": 10**12}, "give a whole number of runs from 1 to 10,000,000"),
    ({"substeps": 10**9}, "give a whole number from 1 to 10,000"),
    ({"threads": 1.5}, "threads is 1.5; give a whole number"),
    ({"every": "a"}, "every is 'a'; give a whole number"),
    ({"controller": None}, "controller is None; give the name of a control law"),
    ({"reference": lambda t: np.zeros((len(t), 2))}, r"returned one value .*; return three arrays, \(q, qd, qdd\)"),
]


def make(convergence: Any = 10.0) -> SlotineLi:
    return SlotineLi(ARM, convergence=convergence, damping=8.0, adaptation=0.5)


def make_walker(feedback: Any) -> Walker:
    return Walker(ARM, convergence=10.0, feedback=feedback, adaptation=0.5)


OTHERS: dict[str, tuple[Callable[[], object], str]] = {
    "variation": (lambda: yt.Variation(spread=None), "spread is None; give one number"),  # type: ignore[arg-type]
    "sensors": (lambda: yt.Sensors(q=0.1), r"the sensor of q is 0.1; give Sensor\("),  # type: ignore[arg-type]
    "gains": (lambda: ControllerSettings(gains=3), "gains is 3; give a dictionary"),  # type: ignore[arg-type]
    "leakage": (lambda: ControllerSettings(leakage=-1.0), "leakage is -1; give a rate above 0"),
    "dead zone": (lambda: ControllerSettings(dead_zone=-1.0), "dead_zone is -1; give a width above 0"),
    "limits": (lambda: ControllerSettings(torque_limits=None), "torque_limits is None; give True"),  # type: ignore[arg-type]
    "gain": (lambda: make(convergence=None), "convergence is None; give a number, a vector or a matrix"),
    "name of a feedback law": (lambda: make_walker("pid"), r"feedback is 'pid'; give .* law, such as PDFeedback\("),
    "class of a feedback law": (lambda: make_walker(PIDFeedback), r"feedback is <class .*; give .* law, such as PD"),
    "robot of a law": (lambda: SlotineLi(None, convergence=1.0, damping=1.0, adaptation=1.0), "None is not a robot"),  # type: ignore[arg-type]
    "change": (lambda: yt.ParameterChange(0.1, 3), "values of a parameter change is 3; give a dictionary"),  # type: ignore[arg-type]
    "grasp": (lambda: yt.grasp("a"), "the mass of a grasped load is 'a'; give a positive number"),  # type: ignore[arg-type]
    "log": (lambda: yt.reference_from_log("run.csv"), "log is 'run.csv'; give a Log"),  # type: ignore[arg-type]
    "motion": (
        lambda: create_controller("slotine-li", ARM, motion=yt.default_reference(ARM, 5.0)),  # type: ignore[arg-type]
        "motion is a function of time; give its values at some times",
    ),
    "path": (
        lambda: yt.simulate(ARM, seconds=0.05).save(None),  # type: ignore[arg-type]
        "path is None; give the name of a file",
    ),
    "seed of a reference": (lambda: yt.default_reference(ARM, 1.0, rng=-3), r"random seed \(rng\) is -3; give"),
}


def check_all() -> None:
    for arguments, message in SIMULATE:
        with pytest.raises(InputError, match=message):
            yt.simulate(ARM, **{"seconds": 0.1, **arguments})
    for call, message in OTHERS.values():
        with pytest.raises(InputError, match=message):
            call()


def test_wrong_arguments_get_one_sentence() -> None:
    """In another process, because the type checks of the tests would refuse most of these arguments first."""
    code = "from tests.simulation.test_refused_arguments import check_all; check_all()"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_runs_that_do_not_exist() -> None:
    simulation = yt.simulate(ARM, "computed-torque", seconds=0.1)
    for method in (simulation.lyapunov, simulation.truth_of, simulation.log):
        with pytest.raises(InputError, match="there is no run 5; the runs are numbered from 0 to 0"):
            method(5)
    with pytest.raises(InputError, match="run is -1; give the number of a run"):
        simulation.lyapunov(-1)
