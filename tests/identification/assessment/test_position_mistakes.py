"""Mistakes in positions are looked for in joints only, and remedies have one entry for each joint of a mapping."""

from __future__ import annotations

import numpy as np
import pytest

import ytheta as yt
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.assessment.interpretation import Interpretation
from ytheta.identification.assessment.suspects import list_suspects
from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem
from ytheta.identification.finding_codes import FitFindingCode
from ytheta.logs.preparing.motion_sources import ArraySource
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot

ARM = yt.load("lu-two-link")
ROBOTS = {"fixed": ARM, "floating": yt.float_base(ARM), "sensor": yt.add_wrench_sensor(ARM)}


def interpret(robot: Robot) -> Interpretation:
    q, qd, qdd, tau = np.random.default_rng(0).normal(size=(4, 200, len(robot.actuated)))
    motion = MotionSamples(np.arange(200) / 100.0, q, qd, qdd, tau, tau, np.arange(200))
    return Interpretation.of(EstimationProblem(Differential(base_parameters(robot)), (ArraySource(motion, 100.0),)))


@pytest.mark.parametrize("name", ROBOTS)
def test_only_joints_are_suspected(name: str) -> None:
    interpretation = interpret(ROBOTS[name])
    mistakes = [suspect.make(np.pi) for suspect in list_suspects(interpretation, ())]
    signs = [each for each in mistakes if each.code is FitFindingCode.POSITION_SIGN]
    offsets = [each for each in mistakes if each.code is FitFindingCode.POSITION_OFFSET]
    for own, count in ((signs, 2), (offsets, 1)):
        assert [each.names for each in own] == [(joint,) for joint in ("joint1", "joint2") for _ in range(count)]
    assert "q = [1, -1]" in signs[-1].remedy
    assert 'q = [0, "pi"]' in offsets[-1].remedy
    place = ROBOTS[name].actuated.index("joint2")
    assert np.flatnonzero(np.array(signs[-1].fields["signs"]) < 0.0).tolist() == [place]
