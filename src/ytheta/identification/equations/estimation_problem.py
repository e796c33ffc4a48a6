"""The equations of an identification: an equation form applied to sources of motion.

Equations are streamed: a piece of motion gives blocks of Y, and each block is added to the normal equations while it is
in the processor's cache. No array of size samples x parameters is stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ytheta.engine.local import count_processors, map_in_order
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, Form, RegressorLayout, SampleRange
from ytheta.identification.equations.normal_equations import NormalEquations, RunningSums, WeightFunction
from ytheta.logs.preparing.motion_sources import Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import JointsBySample, PerBase

# Samples of a piece. Threads seldom wait for Python's global lock if pieces are long. If there are enough samples,
# the pieces have equal lengths, and their number is a multiple of PIECE_MULTIPLE, so that two or four threads have
# equal work. The length does not depend on the number of threads, so that sums do not either. It affects only time
# and memory.
PIECE_LENGTH, MAX_PIECE_LENGTH = 4096, 8192
PIECE_MULTIPLE = 4
# Pieces of a source that is divided into halves; their boundary is at the middle within a sixteenth of the source. It
# affects only which samples belong to which half.
HALF_PIECES = 8
# Values of Y for which threads are started at once. For fewer values, the first pieces show whether it is worthwhile.
# It affects only time.
MIN_VALUES_FOR_THREADS = 5_000_000


@dataclass(frozen=True)
class SourceRange:
    """A range of samples of one source."""

    source: int
    samples: SampleRange


@dataclass(frozen=True, eq=False)
class EstimationProblem:
    """An equation form and the motion from which its parameters are estimated; see the module docstring."""

    form: Form
    sources: tuple[Source, ...]
    threads: int | None = None
    piece_length: int | None = None  # samples; None for a length that depends on the number of samples

    def __post_init__(self) -> None:
        if not self.sources:
            raise InputError("there is no log to identify from")
        if self.piece_length is not None and self.piece_length < 1:
            raise InputError(f"piece_length is {self.piece_length}; give at least 1 sample")
        for source in self.sources:
            if not source.has_torque:
                raise InputError(f"{source.name}: the log has no torques; name the columns that contain them")

    @property
    def base(self) -> ModelParameters:
        return self.form.base

    @property
    def layout(self) -> RegressorLayout:
        return self.form.layout

    @cached_property
    def sample_count(self) -> int:
        """The number of samples of all sources."""
        return sum(sum(source.lengths) for source in self.sources)

    @cached_property
    def _piece_length(self) -> int:
        if self.piece_length is not None:
            return self.piece_length
        count = PIECE_MULTIPLE * math.ceil(self.sample_count / (PIECE_MULTIPLE * MAX_PIECE_LENGTH))
        return max(math.ceil(self.sample_count / max(count, 1)), PIECE_LENGTH)

    @cached_property
    def _threads(self) -> int | None:
        """The number of threads; None if the first pieces are to show whether threads are worthwhile."""
        if self.threads is None and self.sample_count * self.layout.groups.row_count >= MIN_VALUES_FOR_THREADS:
            return count_processors()
        return self.threads

    def normal_equations(
        self, *, around: PerBase | None = None, weigh: WeightFunction | None = None
    ) -> NormalEquations:
        """Return the normal equations of all samples; see ``normal_equations.accumulate`` for the arguments."""
        if around is None and weigh is None:
            return self._plain_normal_equations
        return self._accumulate(around, weigh)

    def split_normal_equations(self, max_parts: int = 4) -> tuple[NormalEquations, ...]:
        """Return the normal equations of every source; of groups of sources if there are more than ``max_parts``.

        If there is only one source, they are those of its first and its second half.
        """
        parts = min(len(self.sources), max_parts)
        pieces = self
        if parts == 1:
            pieces = replace(self, piece_length=max(math.ceil(self.sample_count / HALF_PIECES), 1))
        tasks = list(pieces.tasks())
        if parts > 1:
            groups = [[task for task in tasks if task.source * parts // len(self.sources) == k] for k in range(parts)]
        else:
            groups = [tasks[: len(tasks) // 2], tasks[len(tasks) // 2 :]]
        return tuple(pieces._accumulate(None, None, group) for group in groups if group)

    @cached_property
    def _plain_normal_equations(self) -> NormalEquations:
        return self._accumulate(None, None)

    def _accumulate(
        self, around: PerBase | None, weigh: WeightFunction | None, tasks: Iterable[SourceRange] | None = None
    ) -> NormalEquations:
        # Without weights, the products YᵀY do not depend on residuals; those of the first pass are used again.
        plain = self._plain_normal_equations if around is not None and weigh is None else None

        def make_sums() -> RunningSums:
            return RunningSums.of(self.form, around=around, weigh=weigh, grams=plain is None)

        def work(task: SourceRange) -> RunningSums:
            sums = make_sums()
            sums.add_motion(self.form, self.motion(task), self.sources[task.source].rate)
            return sums

        total = make_sums()
        for part in map_in_order(work, self.tasks() if tasks is None else tasks, threads=self._threads):
            total.merge(part)
        equations = total.make_normal_equations()
        return equations if plain is None else equations.with_grams(plain)

    def residuals(
        self, beta: PerBase, tasks: Iterable[SourceRange] | None = None
    ) -> Iterator[tuple[SourceRange, JointsBySample]]:
        """Yield ranges of samples, by default all in the order of time, with the residuals tau - Y ``beta``.

        The residuals of equations that are not used are zero. Sums of several kinds, such as squares, autocovariances
        and products with other columns, can be computed from them in one pass.
        """

        def work(task: SourceRange) -> tuple[SourceRange, JointsBySample]:
            parts = []
            for rows in self.rows_of(task):
                residual = self.layout.residual(rows, beta)
                parts.append(residual if rows.mask is None else residual * rows.mask)
            return task, np.concatenate(parts, axis=1)

        yield from map_in_order(work, self.tasks() if tasks is None else tasks, threads=self._threads)

    def rows(self) -> Iterator[EquationRows]:
        """Yield all equations, in the order of time."""
        for task in self.tasks():
            yield from self.rows_of(task)

    def tasks(self) -> Iterator[SourceRange]:
        """Yield all ranges of samples, in the order of time."""
        for k, source in enumerate(self.sources):
            for segment, length in enumerate(source.lengths):
                for samples in self.form.split(segment, length, source.rate, self._piece_length):
                    yield SourceRange(k, samples)

    def rows_of(self, task: SourceRange) -> Iterator[EquationRows]:
        """Return the equations of one range of samples."""
        return self.form.rows(self.motion(task), self.sources[task.source].rate)

    def motion(self, task: SourceRange) -> MotionSamples:
        """Return the motion of one range of samples."""
        samples = task.samples
        return self.sources[task.source].motion(samples.segment, samples.first, samples.last)
