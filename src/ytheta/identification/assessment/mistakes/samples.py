"""Samples of the motion with which mistakes are compared: few, but from all parts of the logs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ytheta.identification.equations.differential import Differential
from ytheta.identification.equations.estimation_problem import EstimationProblem, Task
from ytheta.identification.equations.friction import compute_velocity_ratios
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.robot.robot import Robot
from ytheta.shapes import Int, PerJoint, SamplesByJoint

MAX_SAMPLES = 2000  # more would need more time, and mistakes that matter are visible in fewer
MAX_PIECES = 16  # number of pieces of the logs from which samples are selected
MAX_PIECE_LENGTH = 2048  # samples; longer pieces would need much memory
# Numbers of consecutive blocks of samples; models are fitted to every other block and tested on the rest.
BLOCK_COUNT = 40


@dataclass(frozen=True, eq=False)
class Samples:
    """Motion and torques at selected samples, as recorded or with a mistake mended.

    Attributes
    ----------
    motion   the samples of all pieces
    mask     1 for equations that are used and 0 for the others, by sample and joint
    fold     number of samples of the first fold, which come first; the others are the second fold
    order    place of every sample in the order of time
    pieces   all samples of the pieces from which every ``step``-th was selected
    rates    samples per second of every piece
    has_joint_directions
             whether the directions of the motion are those of the joints, one by one; those of motors that turn with
             several joints and of robots with loops are not
    """

    motion: MotionSamples
    mask: SamplesByJoint
    fold: int
    order: Int[np.ndarray, "samples"]
    pieces: tuple[MotionSamples, ...]
    rates: tuple[float, ...]
    step: int
    has_joint_directions: bool = True

    @property
    def tau(self) -> SamplesByJoint:
        assert self.motion.tau is not None
        return self.motion.tau

    def permute(self, order: Int[np.ndarray, "joints"]) -> Samples:
        """Return the samples with the positions of joint ``order[j]`` as those of joint j; torques stay."""
        motion = self.motion
        return self._with_motion(motion.q[:, order], motion.qd[:, order], motion.qdd[:, order], order, 1.0)

    def reverse(self, signs: PerJoint) -> Samples:
        """Return the samples with positions multiplied by these signs; torques stay."""
        motion = self.motion
        order = np.arange(len(signs))
        return self._with_motion(motion.q * signs, motion.qd * signs, motion.qdd * signs, order, signs)

    def scale_positions(self, factors: PerJoint) -> Samples:
        """Return the samples with positions multiplied by positive factors."""
        motion = self.motion
        changed = replace(motion, q=motion.q * factors, qd=motion.qd * factors, qdd=motion.qdd * factors)
        return replace(self, motion=changed)

    def offset(self, offsets: PerJoint) -> Samples:
        """Return the samples with these offsets added to the positions."""
        return replace(self, motion=replace(self.motion, q=self.motion.q + offsets))

    def stretch(self, factor: float) -> Samples:
        """Return the samples with time multiplied by a factor."""
        motion = self.motion
        return replace(self, motion=replace(motion, qd=motion.qd / factor, qdd=motion.qdd / factor**2))

    def shift_torques(self, delay: float) -> Samples:
        """Return the samples with the torques that were recorded ``delay`` seconds later."""
        parts = []
        for piece, rate in zip(self.pieces, self.rates, strict=True):
            assert piece.tau is not None
            clock = np.arange(len(piece)) + delay * rate
            columns = [np.interp(clock, np.arange(len(piece)), column) for column in piece.tau.T]
            parts.append(np.stack(columns, axis=1)[:: self.step])
        return replace(self, motion=replace(self.motion, tau=np.concatenate(parts)[self.order]))

    def _with_motion(
        self,
        q: SamplesByJoint,
        qd: SamplesByJoint,
        qdd: SamplesByJoint,
        order: Int[np.ndarray, "joints"],
        signs: PerJoint | float,
    ) -> Samples:
        direction = self.motion.direction
        if direction is not None:  # without directions, those of the changed velocities are used
            direction = direction[:, order] * signs if self.has_joint_directions else None
        return replace(self, motion=replace(self.motion, q=q, qd=qd, qdd=qdd, direction=direction))


def select_samples(problem: EstimationProblem, form: Differential) -> Samples:
    """Return at most ``MAX_SAMPLES`` samples, evenly distributed over the logs."""
    tasks = list(problem.tasks())
    tasks = tasks[:: -(-len(tasks) // MAX_PIECES)]
    pieces = tuple(problem.motion(_shorten(task)) for task in tasks)
    step = max(1, -(-sum(len(piece) for piece in pieces) // MAX_SAMPLES))
    motion = _join([_stride(piece, step) for piece in pieces])
    count = len(motion)
    second = (np.arange(count) * BLOCK_COUNT // max(count, 1)) % 2
    order = np.argsort(second, kind="stable")
    motion = _take(motion, order)
    mask = form.mask(motion)
    return Samples(
        motion,
        np.ones_like(motion.q) if mask is None else mask.T,
        int(count - second.sum()),
        order,
        pieces,
        tuple(problem.sources[task.source].rate for task in tasks),
        step,
        has_joint_directions(problem.base.robot),
    )


def _shorten(task: Task) -> Task:
    """Return the first part of a long piece."""
    samples = task.samples
    return replace(task, samples=replace(samples, last=min(samples.last, samples.first + MAX_PIECE_LENGTH)))


def has_joint_directions(robot: Robot) -> bool:
    """Whether every drive of a robot turns with one actuated joint, in their order."""
    if robot.loops:
        return False
    rates = compute_velocity_ratios(robot)
    return rates.shape == (len(robot.actuated),) * 2 and bool(np.array_equal(rates, np.diag(np.diagonal(rates))))


def _stride(piece: MotionSamples, step: int) -> MotionSamples:
    return _take(piece, np.arange(0, len(piece), step))


def _take(piece: MotionSamples, places: Int[np.ndarray, "kept"]) -> MotionSamples:
    tau, direction = piece.tau, piece.direction
    return MotionSamples(
        piece.t[places],
        piece.q[places],
        piece.qd[places],
        piece.qdd[places],
        None if tau is None else tau[places],
        None,
        piece.rows[places],
        None if direction is None else direction[places],
        None if piece.resting is None else piece.resting[places],
    )


def _join(pieces: list[MotionSamples]) -> MotionSamples:
    def join(name: str) -> np.ndarray:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    def join_optional(name: str) -> np.ndarray | None:
        return join(name) if all(getattr(piece, name) is not None for piece in pieces) else None

    t, q, qd, qdd, tau = (join(name) for name in ("t", "q", "qd", "qdd", "tau"))
    direction, resting = join_optional("direction"), join_optional("resting")
    return MotionSamples(t, q, qd, qdd, tau, None, join("rows"), direction, resting)
