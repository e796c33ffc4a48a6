"""Arguments of excite whose types are wrong: the type checker of the tests would refuse them earlier."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

import ytheta as yt
from tests.support.design_cases import Floor
from ytheta.errors import InputError
from ytheta.excitation.joint_bounds import LimitMargins, find_bounds
from ytheta.excitation.problem import check_budget, check_paths


@pytest.mark.parametrize(("paths", "words"), [([1], "one of paths is 1"), (1, "paths is 1"), ("a", "paths is 'a'")])
def test_path_constraints_have_margins(paths: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(words)}; give a list of constraints"):
        check_paths(paths)
    floor = Floor(4, 0.9)
    assert check_paths([floor]) == (floor,)


MISUSE = """
import ytheta as yt
robot = yt.load("panda")
for call in (
    lambda: yt.excite(robot, model=robot),
    lambda: yt.excite(robot, position=[(-1.0, 1.0)]),
    lambda: yt.excite(robot, payload="heavy"),
    lambda: yt.assess_trajectory(robot, 3),
    lambda: yt.assess_trajectory(robot, "a.toml", slow="2"),
):
    try:
        call()
    except yt.errors.InputError as error:
        print(error)
"""


def test_misuse_is_explained_in_one_sentence() -> None:
    """In a process of its own, which does not check types."""
    done = subprocess.run([sys.executable, "-c", MISUSE], capture_output=True, text=True, check=True)
    expected = (
        "model is Robot('panda', 7 joints, 7 actuated); give an earlier identification",
        "position is [(-1.0, 1.0)]; give pairs (lower, upper) by joint",
        "payload is 'heavy'; give the largest mass",
        "trajectory is 3; give a Trajectory",
        "slow is '2'; give a positive number",
    )
    for sentence, beginning in zip(done.stdout.splitlines(), expected, strict=True):
        assert sentence.startswith(beginning)


@pytest.mark.parametrize("name", ["starts", "polished"])
def test_the_number_of_starts_is_bounded(name: str) -> None:
    assert check_budget(starts=1_000_000, polished=1_000_000).starts == 1_000_000
    with pytest.raises(InputError, match=f"{name} is 1000000000000; give a whole number from 1 to 1,000,000"):
        check_budget(**{"starts": 1, "polished": 1, name: 10**12})


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"velocity": 1e-300}, "velocity is 1e-300; give a number from 1e-12 to 1e+12"),
        ({"velocity": {"joint1": 1.0, "joint2": 1e300}}, "velocity of 'joint2' is 1e+300; give a number from"),
        ({"effort": 1e13}, "effort is 1e+13; give a number from"),
        ({"position": {"joint1": (-1e300, 1.0), "joint2": (0.0, 1.0)}}, "position of 'joint1' is -1e+300 to 1; give"),
    ],
)
def test_limits_are_not_absurd(limits: dict[str, Any], words: str) -> None:
    """They would become NaN within the search, and its error would name something else."""
    usual: dict[str, Any] = {
        "position": dict.fromkeys(("joint1", "joint2"), (-1.0, 1.0)),
        "velocity": 1.0,
        "acceleration": None,
        "jerk": None,
        "effort": 50.0,
        "margins": LimitMargins(0.02, 0.05, 0.1),
    }
    robot = yt.load("lu-two-link")
    assert find_bounds(robot, **usual)[0].joints == robot.actuated
    with pytest.raises(InputError, match=re.escape(words)):
        find_bounds(robot, **usual | limits)
