"""How sharply Coulomb friction may change its sign, after the low-pass.

Friction jumps where a joint turns round; the measured torque went through a low-pass, which spreads the jump over about
1 / (2 pi cutoff) seconds. In that time the speed changes by qdd / (2 pi cutoff): a model that is to be compared with
such a torque must not jump faster. The drives of the robot therefore get that speed as their ``coulomb_speed``, each
from the accelerations with which its own joint turned round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ytheta.identify.source import Source
from ytheta.robot.parts import Drive, Loop
from ytheta.robot.robot import Robot
from ytheta.shapes import Float

LOOKED_AT = 8  # stretches of motion, evenly chosen: enough to know how a joint turns round
STRETCH = 4096  # samples of one


def turning_speeds(sources: Sequence[Source], cutoff: float) -> Float[np.ndarray, "joints"]:
    """The speed within which friction changes its sign, for every actuated coordinate; zero where it never turned."""
    qd, qdd, breaks = _some_motion(sources)
    here, there = qd[:-1], qd[1:]
    turned = (here * there < 0.0) & ~breaks[:, None]
    found = np.zeros(qd.shape[1])
    for j in range(qd.shape[1]):
        if turned[:, j].any():
            found[j] = np.median(abs(qdd[:-1][turned[:, j], j])) / (2.0 * np.pi * cutoff)
    return found


def with_coulomb_speeds(robot: Robot, speeds: Mapping[str, float]) -> Robot:
    """The robot whose drives change their friction that softly; drives that are not named get the median."""
    usual = float(np.median(list(speeds.values()))) if speeds else 0.0

    def softened(name: str, drive: Drive) -> Drive:
        return replace(drive, coulomb_speed=speeds.get(name, usual))

    return replace(
        robot,
        joints=tuple(replace(j, drive=softened(j.name, j.drive)) for j in robot.joints),
        loops=tuple(Loop(replace(p.joint, drive=softened(p.joint.name, p.joint.drive))) for p in robot.loops),
        motors=tuple(replace(m, drive=softened(m.name, m.drive)) for m in robot.motors),
    )


def _some_motion(sources: Sequence[Source]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Speeds and accelerations of stretches from all over the sources, and where one ends and the next begins."""
    places = [
        (source, segment, first, min(first + STRETCH, length))
        for source in sources
        for segment, length in enumerate(source.lengths)
        for first in range(0, length, STRETCH)
    ]
    chosen = [places[k] for k in sorted({round(k) for k in np.linspace(0, len(places) - 1, LOOKED_AT)})] if places else []
    parts = [source.motion(segment, first, last) for source, segment, first, last in chosen]
    ends = np.cumsum([len(part) for part in parts])
    qd = np.concatenate([part.qd for part in parts])
    breaks = np.zeros(max(len(qd) - 1, 0), dtype=bool)
    breaks[ends[:-1] - 1] = True
    return qd, np.concatenate([part.qdd for part in parts]), breaks
