"""Equations without accelerations: weighted sums of Y = dW/dt + Yhat and of tau over windows of samples.

Identity      sum_k a_k W(t_k) beta + sum_k b_k Yhat(t_k) beta = sum_k b_k tau(t_k)
              if sum_k a_k W(t_k) = sum_k b_k dW/dt(t_k), which the weights of a form guarantee
Reference     [lu1993] (30), (47) for W and Yhat; the windows are those of ``integral`` and ``momentum``
Accepts       trees, with drives, couplings and declared forces. Not: closed loops
Notation      code    meaning
              W       momentum per unit of beta: W beta = M qd
              Yhat    the rest of Y: gravity, friction, declared forces, -∂T/∂q; does not contain accelerations either
Quadrature    If dW/dt is smooth, the error of the sums is that of the weights. Yhat and tau need not be smooth: both
              are summed with the same weights, so a jump of Coulomb friction occurs on both sides and cancels.
Windows       are counted from the start of a segment, so the equations do not depend on how the segment is split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.kernels import AnyKernel, momentum_regressor, remainder
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, RegressorLayout, SampleRange
from ytheta.identification.equations.friction import FrictionEntries, find_friction_entries
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import Block
from ytheta.shapes import Float, Int

# Samples of a chunk: enough for an efficient matrix product, but so few that most windows contain whole chunks. It
# affects only time.
MIN_CHUNK = 64


@dataclass(frozen=True, eq=False)
class Stencil:
    """Weights of samples ``start``, ``start + step``, … of the first window; the next window is ``hop`` steps later."""

    weights: Float[np.ndarray, " weights"]
    hop: int
    start: int = 0
    step: int = 1

    def samples(self, count: int) -> slice:
        """Return the slice of samples that the first ``count`` windows use."""
        last = self.hop * (count - 1) + len(self.weights) - 1
        return slice(self.start, self.start + self.step * last + 1, self.step)

    def sums(self, blocks: Iterable[Block], height: int, count: int) -> Float[np.ndarray, "height windows"]:
        """Return the weighted sums of the first ``count`` windows.

        ``blocks`` contain ``height`` values for each of ``samples(count)``. Each block is used while it is in the
        processor's cache.
        """
        band = self._band
        chunk, reach = band.shape  # reach: number of windows that contain samples of a chunk
        before = reach - chunk // self.hop
        total = np.zeros((height, before + count + before + reach))  # column k belongs to window k - before
        for block in blocks:
            end = block.first + block.values.shape[1]
            for first in range(block.first - block.first % chunk, end, chunk):
                start, stop = max(first, block.first), min(first + chunk, end)
                values = block.values[:, start - block.first : stop - block.first]
                window = first // self.hop
                total[:, window : window + reach] += values @ band[start - first : stop - first]
        return total[:, before : before + count]

    @cached_property
    def _band(self) -> Float[np.ndarray, "chunk reach"]:
        """Weights of a chunk's samples (rows) in all windows that contain at least one of these samples (columns)."""
        chunk = self.hop * -(-MIN_CHUNK // self.hop)
        before = (len(self.weights) - 1) // self.hop
        places = np.arange(chunk)[:, None] - self.hop * np.arange(-before, chunk // self.hop)
        inside = (places >= 0) & (places < len(self.weights))
        return np.where(inside, self.weights[np.where(inside, places, 0)], 0.0)


@dataclass(frozen=True)
class Windows:
    """Windows of ``span`` samples in a segment, each starting ``hop`` samples after the window before it."""

    span: int
    hop: int

    def count(self, length: int) -> int:
        """Return the number of complete windows in ``length`` samples."""
        return max(0, (length - self.span) // self.hop + 1)

    def split(self, segment: int, length: int, size: int) -> Iterator[SampleRange]:
        """Yield ranges of samples for the windows that begin within ``size`` samples; neighbouring ranges overlap."""
        total, per_range = self.count(length), max(1, size // self.hop)
        for first in range(0, total, per_range):
            last = min(first + per_range, total)
            yield SampleRange(segment, first * self.hop, (last - 1) * self.hop + self.span)


@dataclass(frozen=True, eq=False)
class Terms:
    """W and Yhat of base parameters, and the indices of their non-zeros in the equations."""

    base: ModelParameters
    form: str

    def __post_init__(self) -> None:
        if self.base.robot.loops:
            raise InputError(
                f"robot {self.base.robot.name!r} has closed loops, but the {self.form} form is derived from the "
                "Lagrangian of a tree; use the differential form"
            )

    @cached_property
    def W(self) -> AnyKernel:
        return momentum_regressor(self.base.robot, self.base)

    @cached_property
    def Yhat(self) -> AnyKernel:
        return remainder(self.base.robot, self.base)

    @cached_property
    def layout(self) -> RegressorLayout:
        indices = np.unravel_index(self._places, self.W.shape)
        robot = self.base.robot
        return RegressorLayout.of(
            indices,
            joints=len(robot.actuated),
            base_count=len(self.base),
            wrench_rows=len(robot.base_coordinates),
            sensor_rows=len(robot.sensor_coordinates),
        )

    def rows(self, motion: MotionSamples, windows: Windows, a: Stencil, b: Stencil) -> EquationRows:
        """Return the equations of all windows, with weights a of W and weights b of Yhat and tau."""
        assert motion.tau is not None
        count = windows.count(len(motion))
        values = np.zeros((len(self._places), count))
        samples = a.samples(count)
        momenta = self.W.blocks(motion.q[samples], motion.qd[samples])
        values[self._rows_of_W] += a.sums(momenta, len(self._rows_of_W), count)
        remainders = self._compute_remainders(motion, b.samples(count))
        values[self._rows_of_Yhat] += b.sums(remainders, len(self._rows_of_Yhat), count)
        tau = np.ascontiguousarray(motion.tau[b.samples(count)].T)
        return EquationRows(values, b.sums([Block(0, tau)], len(tau), count), hop=windows.hop)

    def _compute_remainders(self, motion: MotionSamples, samples: slice) -> Iterator[Block]:
        """Yield blocks of Yhat; the Coulomb friction columns contain the low-passed sign of the velocity."""
        directions = None if motion.direction is None else np.ascontiguousarray(motion.direction[samples].T)
        for block in self.Yhat.blocks(motion.q[samples], motion.qd[samples]):
            if directions is not None:
                self._friction.write(block.values, directions, block.first)
            yield block

    @cached_property
    def _friction(self) -> FrictionEntries:
        return find_friction_entries(self.base, self.Yhat.indices)

    @cached_property
    def _places(self) -> Int[np.ndarray, " nonzeros"]:
        """Indices of the non-zeros of W or Yhat, sorted by joint."""
        return np.union1d(self.W.places, self.Yhat.places)

    @cached_property
    def _rows_of_W(self) -> Int[np.ndarray, " own"]:
        return np.searchsorted(self._places, self.W.places)

    @cached_property
    def _rows_of_Yhat(self) -> Int[np.ndarray, " own"]:
        return np.searchsorted(self._places, self.Yhat.places)
