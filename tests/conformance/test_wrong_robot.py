"""Every public function that takes a robot refuses anything else with one sentence."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import ytheta as yt
from tests.support.paths import ROOT

# The further arguments that a function needs.
MORE = {
    "assess_persistent_excitation": ["log.csv"], "assess_trajectory": ["motion.toml"], "check": ["log.csv"],
    "lock_joints": [{}], "default_reference": [10.0], "derive_link_regressor": ["link1"],
    "identify": ["log.csv"], "jacobian": ["tool"], "link_poses": [[0.0]], "save_robot": ["robot.toml"],
}  # fmt: skip

TAKE_NAMES = ["bench"]  # functions that also take the name of a robot
# In a process of its own, because the tests check types before the functions do.
SCRIPT = """
import json, sys
import ytheta as yt

answers = {}
for name, more in json.loads(sys.argv[1]).items():
    for wrong in ("panda", None, 3.0) if name not in sys.argv[2:] else (None, 3.0):
        try:
            getattr(yt, name)(wrong, *more)
        except Exception as error:
            answers[f"{name}({wrong!r})"] = f"{type(error).__name__}: {error}"
print(json.dumps(answers))
"""


def takes_robot(name: str) -> bool:
    value = getattr(yt, name)
    return inspect.isfunction(value) and next(iter(inspect.signature(value).parameters), "") == "robot"


def test_what_is_not_a_robot_is_refused() -> None:
    names = [name for name in dir(yt) if takes_robot(name)]
    assert {"regressor", "base_parameters", "inspect", "simulate", "identify", "close_loops"} <= set(names)
    calls = json.dumps({name: MORE.get(name, []) for name in names})
    command = [sys.executable, "-c", SCRIPT, calls, *TAKE_NAMES]
    answers = json.loads(subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout)
    assert len(answers) == 3 * len(names) - len(TAKE_NAMES)
    for call, answer in answers.items():
        assert answer.startswith("InputError: "), call
        assert "is not a robot; load it with load(name or path)" in answer, call
