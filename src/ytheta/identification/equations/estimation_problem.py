"""EstimationProblem: base parameters, motion and a form. All equations an estimator may ask for, streamed.

Nothing of the size samples × parameters is ever stored: pieces of motion become blocks of Y in the processor's cache
and sums at once. Motion itself is kept from one pass to the next as long as it is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ytheta.engine.local import in_order
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.equations.form import Form, SampleRange
from ytheta.identification.equations.normal_equations import NormalEquations, Weigh, summed, together
from ytheta.identification.equations.rows import RegressorLayout, EquationRows
from ytheta.identification.equations.motion_sources import Source
from ytheta.logs.preparing.prepared_log import MotionSamples
from ytheta.shapes import PerBase

PIECE = 1024  # samples: ten times what a low-pass needs to look at beside them, few enough for all threads to have some
MOST_KEPT = 16 * 2**20  # bytes: motion is kept between passes where all of it is smaller


@dataclass(frozen=True)
class Task:
    """A piece of one of the sources."""

    source: int
    piece: SampleRange


@dataclass(frozen=True, eq=False)
class EstimationProblem:
    """What is to be estimated, and from what; see the module docstring."""

    form: Form
    sources: tuple[Source, ...]
    threads: int | None = None
    size: int = PIECE
    most_kept: int = MOST_KEPT
    _kept: dict[Task, MotionSamples] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.sources:
            raise InputError("there is no log to learn from")
        if self.size < 1:
            raise InputError(f"pieces of {self.size} samples; give at least 1")
        for source in self.sources:
            if not source.has_torque:
                raise InputError(f"{source.name}: there are no torques to learn from; name their columns")

    @property
    def base(self) -> BaseParameters:
        return self.form.base

    @property
    def layout(self) -> RegressorLayout:
        return self.form.layout

    @cached_property
    def samples(self) -> int:
        """Samples of all sources."""
        return sum(sum(source.lengths) for source in self.sources)

    def sums(self, *, around: PerBase | None = None, weigh: Weigh | None = None) -> NormalEquations:
        """The sums of all equations: of their residuals where ``around`` is given, weighed by those if asked."""
        if around is None and weigh is None:
            return self._plain_sums
        return self._summed(around, weigh)

    @cached_property
    def _plain_sums(self) -> NormalEquations:
        return self._summed(None, None)

    def _summed(self, around: PerBase | None, weigh: Weigh | None) -> NormalEquations:
        # Residuals do not change the products of Y: without weights these are those of the plain sums.
        known = self._plain_sums if around is not None and weigh is None else None

        def work(task: Task) -> NormalEquations:
            return summed(self.layout, self.rows_of(task), around=around, weigh=weigh, grams=known is None)

        parts = in_order(work, self.tasks(), threads=self.threads)
        total = together(parts, empty=NormalEquations.empty(self.layout))
        return total if known is None else total.with_grams(known)

    def rows(self) -> Iterator[EquationRows]:
        """All equations in the order of time, for estimators that learn as they go."""
        for task in self.tasks():
            yield from self.rows_of(task)

    def tasks(self) -> Iterator[Task]:
        """All pieces, in the order of time."""
        for k, source in enumerate(self.sources):
            for segment, length in enumerate(source.lengths):
                for piece in self.form.pieces(segment, length, source.rate, self.size):
                    yield Task(k, piece)

    def rows_of(self, task: Task) -> Iterator[EquationRows]:
        return self.form.rows(self.motion(task), task.piece, self.sources[task.source].rate)

    def motion(self, task: Task) -> MotionSamples:
        """The motion of a piece; from memory where it was small enough to be kept."""
        kept = self._kept.get(task)
        if kept is not None:
            return kept
        piece = task.piece
        motion = self.sources[task.source].motion(piece.segment, piece.first, piece.last)
        if self.samples * _bytes_per_sample(motion) <= self.most_kept:
            self._kept[task] = motion
        return motion


def _bytes_per_sample(motion: MotionSamples) -> int:
    directions = 0 if motion.direction is None else motion.direction.shape[1]
    return 8 * (5 * motion.q.shape[1] + directions + 2)
