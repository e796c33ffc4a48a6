"""The predicted torques of a log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from ytheta.display import Reported
from ytheta.files.atomic import check_writable, refuse_to_overwrite, write_atomically
from ytheta.files.tables import write_table
from ytheta.findings import Finding
from ytheta.identification.assessment.torque_errors import TorqueErrors
from ytheta.logs.log import LogSize
from ytheta.logs.preparing.preparation import Preparation
from ytheta.robot.robot import Robot
from ytheta.shapes import PerJoint, PerSample, SamplesByJoint, freeze

SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Reported):
    """The predicted torques of a log. Its arrays are read-only.

    Attributes
    ----------
    robot        the robot with the parameters that predict the torques
    source       name of the log
    preparation  how the log was prepared
    errors       torque errors; None if the log has no torques
    t            times of the kept samples
    measured     low-passed measured torques; None if the log has no torques
    predicted    predicted torques
    std          standard deviations of the predicted torques, from the covariance of the model's parameters; None if
                 the model was not identified
    noise        standard deviation of each joint's measured torques at the cut-off of the model's errors, from the logs
                 of its fit; None if it is not known. A new measurement at this cut-off differs from the prediction by
                 both: its variance is std² + noise²
    findings     findings about the log and its preparation
    recorded     size of the log before its preparation, which keeps fewer samples; None if it is not known
    """

    subject: ClassVar[str] = "prediction"

    robot: Robot
    source: str
    preparation: Preparation
    errors: TorqueErrors | None
    t: PerSample
    measured: SamplesByJoint | None
    predicted: SamplesByJoint
    findings: tuple[Finding, ...] = ()
    std: SamplesByJoint | None = None
    noise: PerJoint | None = None
    recorded: LogSize | None = None

    def __post_init__(self) -> None:
        for values in (self.t, self.measured, self.predicted, self.std, self.noise):
            if values is not None:
                freeze(values)

    @property
    def rms_std(self) -> PerJoint | None:
        """Root mean square of each joint's standard deviations; None if the model was not identified."""
        return None if self.std is None else np.sqrt(np.mean(self.std**2, axis=0))

    def save(self, path: str | Path) -> Path:
        """Write t, measured and predicted torques and ``std`` of every joint to a ``.csv`` or ``.parquet`` file."""
        path = check_writable(path, *SUFFIXES)
        refuse_to_overwrite(path, (self.source,))
        columns = {"t": self.t}
        for kind, torques in (("measured", self.measured), ("predicted", self.predicted), ("std", self.std)):
            if torques is not None:
                columns |= {f"{kind}_{joint}": torques[:, k] for k, joint in enumerate(self.robot.actuated)}
        with write_atomically(path) as file:
            write_table(columns, file, suffix=path.suffix, content="prediction")
        return path

    def __repr__(self) -> str:
        errors = "no measured torques" if self.errors is None else f"{self.errors.relative_percent:.2f} % error"
        return (
            f"Prediction({len(self.t)} samples of {Path(self.source).name or 'a log'} by {self.robot.name!r}, {errors})"
        )
