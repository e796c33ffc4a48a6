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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ytheta.errors import InputError
from ytheta.identify.form import Piece
from ytheta.identify.rows import Layout, PerJoint, Rows, Values
from ytheta.kernels import AnyKernel, momentum_regressor, remainder
from ytheta.minimal.base_parameters import BaseParameters
from ytheta.shapes import Float, Int
from ytheta.signal.motion import Motion

Joints = Float[np.ndarray, "samples joints"]


@dataclass(frozen=True, eq=False)
class Stencil:
    """Weights of samples ``start``, ``start + step``, … of the first window; the next is ``hop`` steps further."""

    weights: Float[np.ndarray, "weights"]
    hop: int
    start: int = 0
    step: int = 1

    @property
    def span(self) -> int:
        """Samples from the start of a window to the last that has a weight."""
        return self.start + self.step * (len(self.weights) - 1) + 1

    def of_signal(self, signal: Joints, count: int) -> PerJoint:
        """The weighted sums of ``count`` windows."""
        seen = sliding_window_view(signal[self.start :: self.step], len(self.weights), axis=0)
        return np.ascontiguousarray((seen[:: self.hop][:count] @ self.weights).T)

    def of_kernel(self, kernel: AnyKernel, motion: Motion, count: int) -> Values:
        """The same of a kernel's non-zeros, block by block while these are in the processor's cache."""
        seen = slice(self.start, self.start + self.step * (self.hop * (count - 1) + len(self.weights)), self.step)
        total = np.zeros((len(kernel.places), count))
        for block in kernel.blocks(motion.q[seen], motion.qd[seen]):
            length = block.values.shape[1]
            first = max(0, -(-(block.first - len(self.weights) + 1) // self.hop))
            last = min(count, (block.first + length - 1) // self.hop + 1)
            if first < last:
                total[:, first:last] += block.values @ self._band(block.first - self.hop * first, length, last - first)
        return total

    def _band(self, offset: int, length: int, windows: int) -> Float[np.ndarray, "length windows"]:
        """The weights of ``length`` samples in some windows, the first of which began ``offset`` samples before."""
        places = offset + np.arange(length)[:, None] - self.hop * np.arange(windows)
        return self._padded[np.clip(places, -1, len(self.weights))]

    @cached_property
    def _padded(self) -> Float[np.ndarray, "padded"]:
        return np.append(self.weights, [0.0, 0.0])  # one for all places behind, one (as -1) for those before


@dataclass(frozen=True)
class Windows:
    """Windows of ``span`` samples, ``hop`` samples from one to the next, in a segment."""

    span: int
    hop: int

    def count(self, length: int) -> int:
        """Whole windows in so many samples."""
        return max(0, (length - self.span) // self.hop + 1)

    def pieces(self, segment: int, length: int, size: int) -> Iterator[Piece]:
        """Whole windows that begin within about ``size`` samples; at its start a piece sees again what it shares."""
        total, together = self.count(length), max(1, size // self.hop)
        for first in range(0, total, together):
            last = min(first + together, total)
            lead = max(0, self.span - self.hop) if first else 0
            yield Piece(segment, first * self.hop, (last - 1) * self.hop + self.span, lead)


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
    def places(self) -> Int[np.ndarray, "nonzeros"]:
        """Where either has entries, sorted by joint."""
        return np.union1d(self.W.places, self.Yhat.places)

    @cached_property
    def layout(self) -> Layout:
        indices = np.unravel_index(self.places, self.W.shape)
        return Layout.of(indices, joints=len(self.base.robot.actuated), base=len(self.base))

    def rows(self, motion: Motion, count: int, a: Stencil, b: Stencil) -> Rows:
        """The equations of the first ``count`` windows: a weighs W, b Yhat and tau."""
        assert motion.tau is not None
        values = np.zeros((len(self.places), count))
        for kernel, stencil in ((self.W, a), (self.Yhat, b)):
            values[np.searchsorted(self.places, kernel.places)] += stencil.of_kernel(kernel, motion, count)
        return Rows(values, b.of_signal(motion.tau, count))
