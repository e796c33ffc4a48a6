"""The rules of Theorem 2, one by one."""

from __future__ import annotations

import pytest

from tests.support.lin_checks import counts, is_complete_and_minimal_lin, ranks
from tests.support.serial_arms import RULES
from ytheta.identifiability import lin
from ytheta.identifiability.lin import JointAxes
from ytheta.robot.robot import Robot


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_gives_the_rank(rule: str) -> None:
    robot, rigid, with_rotors = RULES[rule]
    assert counts(robot) == (rigid, with_rotors)
    assert ranks(robot) == (rigid, with_rotors)


def test_a_wrong_rule_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twins: delta always 1, sigma always 1, no meeting point, rotors that always or never merge."""

    def is_detected(name: str, replacement: object, robot: Robot) -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(lin if name.startswith("_") else JointAxes, name, replacement)
            try:
                return not is_complete_and_minimal_lin(robot)
            except ArithmeticError:
                return True

    assert is_detected("gravity_is_parallel", lambda *_: False, RULES["vertical axis"][0])
    assert is_detected("gravity_is_parallel", lambda *_: True, RULES["horizontal axis"][0])
    assert is_detected("are_parallel", lambda *_: True, RULES["square s"][0])
    assert is_detected("are_perpendicular", lambda *_: True, RULES["skew s"][0])
    assert is_detected("gravity_is_perpendicular", lambda *_: True, RULES["lift"][0])
    assert is_detected("pass_through", lambda *_: True, RULES["parallel"][0])
    assert is_detected("_find_meeting", lambda *_: None, RULES["meeting axes"][0])
    assert not is_detected("_find_meeting", lambda *_: None, RULES["meeting axes, weight"][0])
