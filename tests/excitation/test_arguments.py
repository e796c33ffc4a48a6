"""Arguments of excite whose types are wrong: the type checker of the tests would refuse them earlier."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from tests.support.design_cases import Floor
from ytheta.errors import InputError
from ytheta.excitation.arguments import check_paths


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
