"""Equations without accelerations: weighted sums over windows of samples, of Y = dW/dt + Yhat and of tau.

Identity      sum_k a_k W(t_k) beta + sum_k b_k Yhat(t_k) beta = sum_k b_k tau(t_k)
              wherever sum_k a_k W(t_k) = sum_k b_k dW/dt(t_k); the weights of a form see to that
Reference     [lu1993] (30), (47) for W and Yhat; the windows are those of ``integral`` and ``momentum``
Accepts       trees, with drives, couplings and declared forces. Not: closed loops
Notation      code    meaning
              W       momentum per unit of beta: W beta = M qd
              Yhat    what is left of Y: gravity, friction, declared forces, -∂T/∂q. It has no accelerations either
Quadrature    Only dW/dt must be smooth for the sums to be as exact as the weights are. Yhat and tau are summed with the
              same weights, so a jump of Coulomb friction between two samples stands on both sides and cancels.
Windows       are counted from the start of a segment: which equations there are does not depend on how it is cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ytheta.dynamics.kernels import AnyKernel, momentum_regressor, remainder
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.form import SampleRange
from ytheta.identification.equations.friction import FrictionEntries, friction_entries
from ytheta.identification.equations.rows import RegressorLayout, EquationRows
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.native import Block
from ytheta.shapes import Float, Int

CHUNK = 64  # samples, at least: enough for one product of matrices, few enough for most windows to hold all of them


@dataclass(frozen=True, eq=False)
class Stencil:
    """Weights of samples ``start``, ``start + step``, … of the first window; the next is ``hop`` steps further."""

    weights: Float[np.ndarray, "weights"]
    hop: int
    start: int = 0
    step: int = 1

    def seen(self, count: int) -> slice:
        """The samples that the first ``count`` windows look at."""
        last = self.hop * (count - 1) + len(self.weights) - 1
        return slice(self.start, self.start + self.step * last + 1, self.step)

    def sums(self, blocks: Iterable[Block], height: int, count: int) -> Float[np.ndarray, "height windows"]:
        """The weighted sums of ``count`` windows of what was seen, each block while it is in the processor's cache."""
        band = self._band
        chunk, reach = band.shape  # reach: windows that hold samples of a chunk
        before = reach - chunk // self.hop
        total = np.zeros((height, before + count + before + reach))  # column k is of window k - before
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
        """The weights of consecutive samples, rows, in all windows that hold any of them, columns."""
        chunk = self.hop * -(-CHUNK // self.hop)
        before = (len(self.weights) - 1) // self.hop
        places = np.arange(chunk)[:, None] - self.hop * np.arange(-before, chunk // self.hop)
        inside = (places >= 0) & (places < len(self.weights))
        return np.where(inside, self.weights[np.where(inside, places, 0)], 0.0)


@dataclass(frozen=True)
class Windows:
    """Windows of ``span`` samples, ``hop`` samples from one to the next, in a segment."""

    span: int
    hop: int

    def count(self, length: int) -> int:
        """Whole windows in so many samples."""
        return max(0, (length - self.span) // self.hop + 1)

    def pieces(self, segment: int, length: int, size: int) -> Iterator[SampleRange]:
        """Whole windows that begin within about ``size`` samples; at its start a piece sees again what it shares."""
        total, together = self.count(length), max(1, size // self.hop)
        for first in range(0, total, together):
            last = min(first + together, total)
            lead = max(0, self.span - self.hop) if first else 0
            yield SampleRange(segment, first * self.hop, (last - 1) * self.hop + self.span, lead)


@dataclass(frozen=True, eq=False)
class Terms:
    """W and Yhat of base parameters, and where their entries stand in the equations."""

    base: BaseParameters
    form: str

    def __post_init__(self) -> None:
        if self.base.robot.loops:
            raise InputError(
                f"robot {self.base.robot.name!r} has closed loops, and the {self.form} form comes from the Lagrangian "
                "of a tree; use the differential form"
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
        return RegressorLayout.of(indices, joints=len(self.base.robot.actuated), base=len(self.base))

    def rows(self, motion: MotionSamples, count: int, a: Stencil, b: Stencil) -> EquationRows:
        """The equations of the first ``count`` windows: a weighs W, b Yhat and tau."""
        assert motion.tau is not None
        values = np.zeros((len(self._places), count))
        seen = a.seen(count)
        momenta = self.W.blocks(motion.q[seen], motion.qd[seen])
        values[self._of_W] += a.sums(momenta, len(self._of_W), count)
        values[self._of_Yhat] += b.sums(self._remainders(motion, b.seen(count)), len(self._of_Yhat), count)
        tau = np.ascontiguousarray(motion.tau[b.seen(count)].T)
        return EquationRows(values, b.sums([Block(0, tau)], len(tau), count))

    def _remainders(self, motion: MotionSamples, seen: slice) -> Iterator[Block]:
        """Blocks of Yhat, with friction as soft as the low-pass leaves it."""
        directions = None if motion.direction is None else np.ascontiguousarray(motion.direction[seen].T)
        for block in self.Yhat.blocks(motion.q[seen], motion.qd[seen]):
            if directions is not None:
                own = slice(block.first, block.first + block.values.shape[1])
                self._friction.write(block.values, directions[:, own], 0)
            yield block

    @cached_property
    def _friction(self) -> FrictionEntries:
        return friction_entries(self.base, self.Yhat.indices)

    @cached_property
    def _places(self) -> Int[np.ndarray, "nonzeros"]:
        """Where W or Yhat has entries, sorted by joint."""
        return np.union1d(self.W.places, self.Yhat.places)

    @cached_property
    def _of_W(self) -> Int[np.ndarray, "own"]:
        return np.searchsorted(self._places, self.W.places)

    @cached_property
    def _of_Yhat(self) -> Int[np.ndarray, "own"]:
        return np.searchsorted(self._places, self.Yhat.places)
