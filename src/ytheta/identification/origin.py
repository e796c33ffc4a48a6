"""The origin of an identified model: the logs and settings of its identification."""

from __future__ import annotations

from dataclasses import dataclass

from ytheta.identification.priors.settings import PriorCenter
from ytheta.logs.log import LogOrigin, LogSize
from ytheta.logs.preparing.preparation import PreparationSettings


@dataclass(frozen=True)
class Origin:
    """The logs and settings of an identification."""

    logs: tuple[str, ...]
    validation_logs: tuple[str, ...]
    form: str
    estimator: str
    parameters: tuple[str, ...]  # the selected standard parameters
    min_speed: tuple[float, ...] | str | None  # rad/s or m/s; slower or, with "auto", resting joints were left out
    settings: tuple[PreparationSettings, ...]  # one per log of the fit; "auto" is replaced by values
    validation_settings: tuple[PreparationSettings, ...] = ()  # one per validation log
    judged_cutoffs: tuple[float, ...] = ()  # in Hz; one per log, validation logs last: those of the torque errors
    expected_autocorrelation_time: float = 1.0  # that of low-passed white noise, in samples
    prior: PriorCenter = PriorCenter.NONE
    prior_source: str = ""  # file or name of what the prior is centred on, unless it is the robot's own description
    log_origins: tuple[LogOrigin | None, ...] = ()  # one per log, validation logs last: the columns of the files
    log_digests: tuple[str, ...] = ()  # one per log of the fit, see ``Log.compute_digest``
    log_sizes: tuple[LogSize, ...] = ()  # one per log, validation logs last: as recorded, before the low-pass

    @property
    def named_log_origins(self) -> list[tuple[str, LogOrigin]]:
        """Names and origins of the logs that were read from files or tables."""
        pairs = zip((*self.logs, *self.validation_logs), self.log_origins, strict=False)  # origins may be unknown
        return [(name, origin) for name, origin in pairs if origin is not None]

    @property
    def log_rows(self) -> list[list[int]] | None:
        """First row and stop of each log in its file or table, validation logs last; None unless all are known."""
        rows = [[each.first, each.stop] for each in self.log_origins if each is not None]
        return rows if rows and len(rows) == len(self.log_origins) else None

    @property
    def fit_sizes(self) -> tuple[LogSize, ...]:
        """The sizes of the logs of the fit."""
        return self.log_sizes[: len(self.logs)]

    @property
    def validation_sizes(self) -> tuple[LogSize, ...]:
        """The sizes of the validation logs."""
        return self.log_sizes[len(self.logs) :]

    @property
    def cutoff(self) -> float:
        """The lowest cut-off of the torque errors, in Hz."""
        return min(self.judged_cutoffs, default=float(self.settings[0].cutoff))
