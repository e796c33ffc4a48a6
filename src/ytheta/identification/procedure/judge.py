"""Judgement of a model: its torque errors on all logs, at the cut-off of the judgement and at that of the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ytheta.errors import InputError
from ytheta.identifiability.model_parameters import ModelParameters
from ytheta.identification.assessment.residual_causes import ResidualCause, find_residual_causes
from ytheta.identification.assessment.residuals import compute_errors
from ytheta.identification.assessment.torque_errors import ReportedErrors, TorqueErrors
from ytheta.identification.equations.cached_source import CachedSource
from ytheta.identification.equations.differential import Differential, RigidTorque
from ytheta.identification.equations.known_torque import KnownTorque
from ytheta.identification.equations.motion_sources import LogSource, Source
from ytheta.identification.fitting import FitEquations
from ytheta.identification.preparing.plan import PreparationPlan
from ytheta.logs.preparing.preparation import Preparation
from ytheta.logs.preparing.rest import remake_rest_rule
from ytheta.shapes import PerBase

PIECE_LENGTH = 1024  # samples that are prepared at once: their cut-off is low, so there are many recorded ones for each


@dataclass(frozen=True, eq=False)
class Judge:
    """Computes torque errors, always in the differential form, so that forms can be compared."""

    base: ModelParameters
    equations: FitEquations
    plan: PreparationPlan
    load: RigidTorque | None

    def compute_fit_errors(self, beta: PerBase) -> TorqueErrors:
        """Return the errors on the logs of the fit."""
        sources = self.equations.sources
        if self.plan.is_fit_judged_apart:
            sources = _with_preparations(sources, self.plan.judged.fit)
        return self._compute_errors(sources, beta)

    def compute_validation_errors(self, beta: PerBase) -> TorqueErrors | None:
        """Return the errors on the validation logs; None if there are none."""
        sources = self.equations.validation_sources
        if not sources:
            return None
        errors = self._compute_errors(sources, beta)
        if not errors.counts.any():
            names = ", ".join(source.name for source in sources)
            raise InputError(
                f"{names}: no joint moves, or none reaches its min_speed, so that nothing can be judged; validate with "
                "motion, or set min_speed to 0 to judge rest"
            )
        return errors

    def compute_reported_errors(self, beta: PerBase) -> ReportedErrors | None:
        """Return the errors at the report cut-off; None if it was not given."""
        reported = self.plan.reported
        if reported is None:
            return None
        fit, validation = (
            _with_preparations(sources, preparations)
            for sources, preparations in (
                (self.equations.sources, reported.fit),
                (self.equations.validation_sources, reported.validation),
            )
        )
        return ReportedErrors(
            reported.cutoff,
            self._compute_errors(fit, beta),
            self._compute_errors(validation, beta) if validation else None,
        )

    def compute_description_errors(self, beta: PerBase, load: RigidTorque | None) -> TorqueErrors:
        """Return the errors of a description on the validation logs, or on those of the fit without them.

        ``load``: the torque that its drives transmit, if friction depends on it.
        """
        judge = replace(self, load=load)
        return judge.compute_validation_errors(beta) or judge.compute_fit_errors(beta)

    def find_causes(self, beta: PerBase) -> tuple[ResidualCause, ...]:
        """Return what explains the residuals, on the validation logs if there are any."""
        sources = self.equations.validation_sources or self.equations.sources
        return find_residual_causes(self._form, sources, beta, known=KnownTorque(self.base))

    def _compute_errors(self, sources: tuple[Source, ...], beta: PerBase) -> TorqueErrors:
        return compute_errors(self._form, sources, beta, known=KnownTorque(self.base), threads=self.equations.threads)

    @property
    def _form(self) -> Differential:
        return Differential(self.base, self.equations.min_speed, self.load)


def _with_preparations(sources: tuple[Source, ...], preparations: Sequence[Preparation]) -> tuple[Source, ...]:
    """Return the sources of the same logs with other preparations. They are used once, so nothing is stored."""
    uncached = (each.source if isinstance(each, CachedSource) else each for each in sources)
    prepared = tuple(
        replace(source, preparation=preparation, rest=source.rest and remake_rest_rule(source.rest, preparation))
        for source, preparation in zip(uncached, preparations, strict=True)
        if isinstance(source, LogSource)
    )
    return tuple(CachedSource(source, 0, PIECE_LENGTH) for source in prepared)
