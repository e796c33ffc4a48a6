"""Model files: robots in TOML that every command accepts, with an additional table ``[identification]``.

The robot of the file consists of bodies: the physically consistent standard parameters nearest to the estimate. The
table, which ``model_table`` writes, contains the estimate of the base parameters with their covariance, the torque
errors, and what was chosen; the page on identification of the documentation
describes its keys.

If the geometry is unknown, there are no standard parameters. The robot of the file then has friction but no inertias,
and unknown lengths and angles have no values, so that nothing that needs geometry takes it for a complete model. The
torques follow from the parameters of the table and from the regrouped Lagrangian of the robot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ytheta.display import Displayed
from ytheta.dynamics.kernels import AnyKernel, inverse_dynamics
from ytheta.errors import InputError
from ytheta.files.atomic import check_writable, write_atomically
from ytheta.files.bounded import read_bytes
from ytheta.files.own_files import TOML_MARK
from ytheta.files.paths import check_path
from ytheta.files.toml_document import parse_toml
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.model_checks import check_joints, check_settings, find_contradictions
from ytheta.identification.model_table import TABLE, format_table
from ytheta.identification.priors.settings import EarlierModel
from ytheta.identification.unknown_geometry import is_without_geometry, make_torque_kernel
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.robot.writing.toml import to_toml
from ytheta.shapes import BaseByBase, PerBase, freeze

if TYPE_CHECKING:
    from ytheta.identifiability.regrouping import Regrouping
    from ytheta.identification.result import Identification

SUFFIX = ".toml"


@dataclass(frozen=True, eq=False, repr=False)
class Model(Displayed):
    """The content of a model file.

    Attributes
    ----------
    robot       the robot with the identified standard parameters
    names       names of the base parameters, or of the model parameters if the geometry is unknown
    beta        their values, in the order of ``names``
    covariance  their covariance
    table       the complete table ``[identification]``, the data that ``--json`` prints
    """

    subject: ClassVar[str] = "model"

    robot: Robot
    names: tuple[str, ...]
    beta: PerBase
    covariance: BaseByBase
    table: Mapping[str, Any]

    def __post_init__(self) -> None:
        freeze(self.beta)
        freeze(self.covariance)

    @property
    def has_unknown_geometry(self) -> bool:
        """Whether the parameters are those of a regrouped Lagrangian, because the geometry is unknown."""
        return is_without_geometry(self.table)

    @property
    def noun(self) -> str:
        """What the parameters are called."""
        return "model parameters" if self.has_unknown_geometry else "base parameters"

    def inverse_dynamics(self) -> AnyKernel:
        """Return the kernel (q, qd, qdd) → tau of this model; it needs no geometry if that is unknown."""
        if not self.has_unknown_geometry:
            return inverse_dynamics(self.robot)
        return make_torque_kernel(self.regroup(), self.beta)

    def regroup(self) -> Regrouping:
        """Return the regrouped Lagrangian to which the parameters belong; only if the geometry is unknown."""
        from ytheta.identifiability.ha import regroup_lagrangian  # imported here, since it is rarely needed

        regrouping = regroup_lagrangian(
            self.robot,
            rotor_inertia=bool(self.table.get("rotor_inertia")),
            friction=self.table.get("friction"),
            lengths=self.robot.unset_lengths,
            angles=self.robot.unset_angles,
        )
        if regrouping.names != self.names:
            raise InputError(
                f"the parameters of the model of {self.robot.name!r} are not those of its regrouped Lagrangian; "
                "identify the robot again"
            )
        return regrouping

    def __repr__(self) -> str:
        verdict = self.table.get("verdict", "unknown")
        return f"Model({len(self.names)} {self.noun} of {self.robot.name!r}, verdict {verdict})"


def find_earlier_model(model: Model) -> EarlierModel:
    """Return the base parameters of a model, found again for its robot, with their values and covariance."""
    base = base_parameters(
        model.robot, rotor_inertia=bool(model.table.get("rotor_inertia")), friction=model.table.get("friction")
    )
    if base.names != model.names:
        base = base_parameters(model.robot, parameters=_list_selected(model))
    if base.names != model.names:
        raise InputError(
            f"the base parameters of the model of {model.robot.name!r} are not those of its robot; identify it again"
        )
    return EarlierModel(base, model.beta, model.covariance, model.table)


def _list_selected(model: Model) -> tuple[str, ...]:
    """Return the standard parameters that were selected when a model was identified."""
    return tuple(model.table.get("standard_parameters", {}))


def save_model(identification: Identification, path: str | Path) -> Path:
    """Write a model to a ``.toml`` file, completely or not at all."""
    path = check_writable(path, SUFFIX)
    try:
        content = model_to_toml(identification).encode("utf-8")
    except UnicodeEncodeError as error:
        text = error.object[error.start : error.end]
        raise InputError(
            f"{path}: {text!r} is not a valid character; rename the log or robot part whose name contains it"
        ) from None
    with write_atomically(path) as file:
        file.write_bytes(content)
    return path


def model_to_toml(identification: Identification) -> str:
    """Return a model as TOML text."""
    return "\n".join([TOML_MARK, to_toml(identification.robot), *format_table(identification), ""])


def read_model(path: str | Path) -> Model:
    """Read a model that ``Identification.save`` wrote. To read only its robot, use ``load``."""
    path = check_path(path, "the model")
    robot = load(path)
    table = read_identification_table(path)
    if table is None:
        raise InputError(f"{path} is not an identified model: it has no table [{TABLE}]; identify the robot first")
    try:
        names, beta, std = _read_parameters(table)
        covariance = _read_covariance(table, len(names))
    except InputError as error:
        raise InputError(f"{path}: {error}; identify the robot again") from None
    known = {*robot.parameter_names, *(names if is_without_geometry(table) else ())}
    for contradiction in find_contradictions(known, names, beta, std, covariance):
        raise InputError(f"{path}: {contradiction}; identify the robot again")
    check_joints(table, robot, path)
    return Model(robot, names, beta, covariance, table)


def _read_parameters(table: Mapping[str, Any]) -> tuple[tuple[str, ...], PerBase, PerBase]:
    """Return names, values and standard deviations; InputError names the key that is missing or damaged."""
    rows = table.get("parameters")
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InputError("the key 'parameters' of its identification is missing or damaged")
    for k, row in enumerate(rows, start=1):
        for key, kind in (("name", str), ("value", int | float), ("std", int | float)):
            value = row.get(key) if isinstance(row, Mapping) else None
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InputError(f"the key {key!r} of parameter {k} of its identification is missing or damaged")
    try:
        values, std = (np.array([row[key] for row in rows], dtype=float) for key in ("value", "std"))
    except OverflowError:
        raise InputError("a value of its parameters is too large for a number of this computer") from None
    return tuple(row["name"] for row in rows), values, std


def _read_covariance(table: Mapping[str, Any], size: int) -> BaseByBase:
    try:
        return _to_symmetric_matrix(table["covariance"], size)
    except (KeyError, OverflowError, TypeError, ValueError):
        raise InputError("the key 'covariance' of its identification is missing or damaged") from None


def read_identification_table(path: str | Path) -> Mapping[str, Any] | None:
    """Return the table ``[identification]`` of a file, or None if the file does not have one."""
    path = Path(path)
    if path.suffix.lower() != SUFFIX or not path.is_file():
        return None
    table = parse_toml(read_bytes(path), str(path)).get(TABLE)
    if not isinstance(table, Mapping):
        return None
    check_settings(table, path)
    return table


def _to_symmetric_matrix(rows: Sequence[Sequence[float]], size: int) -> BaseByBase:
    """Return the symmetric matrix with these rows of its lower triangle; a row of wrong length raises ValueError."""
    lower = np.zeros((size, size))
    for k, row in zip(range(size), rows, strict=True):
        lower[k, : k + 1] = np.array(row, dtype=float).reshape(k + 1)
    return lower + np.tril(lower, -1).T
