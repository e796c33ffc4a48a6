"""The equations of an identification: an equation form applied to sources of motion.

Equations are streamed: a piece of motion gives blocks of Y, and each block is added to the normal equations while it is
in the processor's cache. No array of size samples x parameters is stored. The prepared motion of all sources is
cached between passes if it is small enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ytheta.engine.local import map_in_order
from ytheta.errors import InputError
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.equations.form import EquationRows, Form, RegressorLayout, SampleRange
from ytheta.identification.equations.motion_sources import Source
from ytheta.identification.equations.normal_equations import NormalEquations, WeightFunction, accumulate, merge
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import PerBase

PIECE_LENGTH = 1024  # samples; ten times the margin of a low-pass, but so short that there is work for all threads
MAX_CACHED_BYTES = 16 * 2**20  # prepared motion up to this size is cached between passes


@dataclass(frozen=True)
class Task:
    """A range of samples of one source."""

    source: int
    samples: SampleRange


@dataclass(frozen=True, eq=False)
class EstimationProblem:
    """An equation form and the motion from which its parameters are estimated; see the module docstring."""

    form: Form
    sources: tuple[Source, ...]
    threads: int | None = None
    piece_length: int = PIECE_LENGTH
    max_cached_bytes: int = MAX_CACHED_BYTES
    _cache: dict[Task, MotionSamples] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.sources:
            raise InputError("there is no log to identify from")
        if self.piece_length < 1:
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

    def normal_equations(
        self, *, around: PerBase | None = None, weigh: WeightFunction | None = None
    ) -> NormalEquations:
        """Return the normal equations of all samples; see ``normal_equations.accumulate`` for the arguments."""
        if around is None and weigh is None:
            return self._plain_normal_equations
        return self._accumulate(around, weigh)

    @cached_property
    def _plain_normal_equations(self) -> NormalEquations:
        return self._accumulate(None, None)

    def _accumulate(self, around: PerBase | None, weigh: WeightFunction | None) -> NormalEquations:
        # Without weights, the products YᵀY do not depend on residuals; those of the first pass are used again.
        plain = self._plain_normal_equations if around is not None and weigh is None else None

        def work(task: Task) -> NormalEquations:
            return accumulate(self.layout, self.rows_of(task), around=around, weigh=weigh, grams=plain is None)

        parts = map_in_order(work, self.tasks(), threads=self.threads)
        total = merge(parts, empty=NormalEquations.empty(self.layout))
        return total if plain is None else total.with_grams(plain)

    def rows(self) -> Iterator[EquationRows]:
        """Yield all equations, in the order of time."""
        for task in self.tasks():
            yield from self.rows_of(task)

    def tasks(self) -> Iterator[Task]:
        """Yield all ranges of samples, in the order of time."""
        for k, source in enumerate(self.sources):
            for segment, length in enumerate(source.lengths):
                for samples in self.form.split(segment, length, source.rate, self.piece_length):
                    yield Task(k, samples)

    def rows_of(self, task: Task) -> Iterator[EquationRows]:
        """Return the equations of one range of samples."""
        return self.form.rows(self.motion(task), self.sources[task.source].rate)

    def motion(self, task: Task) -> MotionSamples:
        """Return the motion of one range of samples, from the cache if possible."""
        cached = self._cache.get(task)
        if cached is not None:
            return cached
        samples = task.samples
        motion = self.sources[task.source].motion(samples.segment, samples.first, samples.last)
        if self.sample_count * _count_bytes_per_sample(motion) <= self.max_cached_bytes:
            self._cache[task] = motion
        return motion


def _count_bytes_per_sample(motion: MotionSamples) -> int:
    directions = 0 if motion.direction is None else motion.direction.shape[1]
    return 8 * (5 * motion.q.shape[1] + directions + 2)
