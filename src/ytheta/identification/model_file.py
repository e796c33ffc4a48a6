"""Model files: robots in TOML that every command accepts, with an additional table ``[identification]``.

The robot of the file consists of bodies: the most likely physically consistent standard parameters. The table, which
``model_table`` writes, contains the base parameters of these bodies with their covariance, their torque errors, and
what was chosen; the page on identification of the documentation describes its keys.

If the geometry is unknown, there are no standard parameters. The robot of the file then has friction but no inertias,
and unknown lengths and angles have no values, so that nothing that needs geometry takes it for a complete model. The
torques follow from the parameters of the table and from the regrouped Lagrangian of the robot.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ytheta.arguments import check_path
from ytheta.display import Displayed
from ytheta.dynamics.kernels import AnyKernel, inverse_dynamics
from ytheta.errors import InputError, suggest_names
from ytheta.files.atomic import TOML_MARK, check_writable, write_atomically
from ytheta.files.bounded import read_bytes
from ytheta.files.toml import describe_value, parse_toml, to_finite_number
from ytheta.identifiability.registry import base_parameters
from ytheta.identification.equations.differential import make_torque_kernel
from ytheta.identification.model_table import MOTION, MOTION_KEYS, PREPARATION, TABLE, VELOCITIES, format_table
from ytheta.identification.priors.prior import EarlierModel
from ytheta.logs.preparing.preparation import AUTO, PreparationSettings
from ytheta.logs.preparing.preparation import check_settings as check_preparation_settings
from ytheta.logs.preparing.recorded_velocity import DecidedVelocity
from ytheta.robot.reading.load import load
from ytheta.robot.reading.toml import UNKNOWN_ANGLES, UNKNOWN_LENGTHS
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, Bool, PerBase, SamplesByJoint, freeze

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
    from ytheta.robot.toml_writer import to_toml  # imported here, since most results are not saved

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


@dataclass(frozen=True, eq=False)
class RecordedStates:
    """States of the motion from which a model was identified, for its actuated coordinates.

    ``used`` is False for a joint that rests or is slow, so that the torque errors of the model leave the sample out.
    """

    q: SamplesByJoint
    qd: SamplesByJoint
    qdd: SamplesByJoint
    used: Bool[np.ndarray, "samples joints"]


def read_states(table: Mapping[str, Any], robot: Robot) -> RecordedStates | None:
    """Return the states in the table of a model; None if there are none, as in files of earlier versions."""
    if MOTION not in table:
        return None
    try:
        arrays = [np.array(table[MOTION][key], dtype=float) for key in MOTION_KEYS]
        shapes = {array.shape for array in arrays}
        is_valid = len(shapes) == 1 and all(np.isfinite(array).all() for array in arrays)
    except (KeyError, OverflowError, TypeError, ValueError):
        is_valid = False
    if not is_valid or arrays[0].ndim != 2 or arrays[0].shape[1] != len(robot.actuated) or not len(arrays[0]):
        raise InputError(
            f"the table '{TABLE}.{MOTION}' of the model of {robot.name!r} is damaged; remove it, or identify the robot "
            "again"
        )
    q, qd, qdd, used = arrays
    return RecordedStates(q, qd, qdd, used != 0.0)


def _to_symmetric_matrix(rows: Sequence[Sequence[float]], size: int) -> BaseByBase:
    """Return the symmetric matrix with these rows of its lower triangle; a row of wrong length raises ValueError."""
    lower = np.zeros((size, size))
    for k, row in zip(range(size), rows, strict=True):
        lower[k, : k + 1] = np.array(row, dtype=float).reshape(k + 1)
    return lower + np.tril(lower, -1).T


# Checks of the table ``[identification]`` of a model file, which may have been edited or damaged.


# Relative difference of values of a model file that should agree. Chosen on: reasoning; all digits are written, so
# only an edited file exceeds it.
RELATIVE_TOLERANCE = 1e-8


def check_settings(table: Mapping[str, Any], path: Path) -> None:
    """Raise InputError if a setting of the identification, which ``predict`` uses, has no valid value."""
    if "slowest" in table:
        raise InputError(f"{path}: 'slowest' of its identification is now called 'min_speed'; rename this key")
    cutoff, min_speed = table.get("cutoff"), table.get("min_speed")
    if cutoff is not None and not _is_positive(cutoff):
        raise _make_error(path, "the cutoff", cutoff, "a positive frequency in Hz")
    if min_speed not in (None, AUTO) and not _are_not_negative(min_speed):
        raise _make_error(path, "min_speed", min_speed, f'one non-negative speed for each joint, or "{AUTO}"')
    for key, kind, form in (
        ("rotor_inertia", bool, "true or false"),
        ("friction", list, "a list of names"),
        ("standard_parameters", Mapping, "a table"),
    ):
        if key in table and not isinstance(table[key], kind):
            raise _make_error(path, key, table[key], form)
    try:
        read_preparation(table)
    except InputError as error:
        raise InputError(f"{path}: the key '{PREPARATION}' of its identification is damaged: {error}") from None
    digests = table.get("log_digests", [])
    if not isinstance(digests, list) or not all(isinstance(each, str) for each in digests):
        raise _make_error(path, "log_digests", digests, "a list of texts in quotes, or remove this key")
    rows = table.get("log_rows", [])
    if not isinstance(rows, list) or not all(_is_row_range(each) for each in rows):
        raise _make_error(path, "log_rows", rows, "a list of first rows and stops, such as [[0, 1000]]")
    for key, noun in (("noise", "torque"), ("between_logs", "torque"), ("torque_scale", "share")):
        if table.get(key) is not None and not _are_not_negative(table[key]):
            raise _make_error(path, key, table[key], f"one non-negative {noun} for each joint")


def read_preparation(table: Mapping[str, Any]) -> tuple[PreparationSettings, tuple[DecidedVelocity, ...]]:
    """Return the settings with which a log is prepared for a model, and the velocities that its torques decided.

    Files of older versions contain only the derivative. Without any, there are the default settings.
    """
    entries = table.get(PREPARATION, {name: table[name] for name in ("derivative",) if name in table})
    try:
        entries = {name: tuple(value) if isinstance(value, list) else value for name, value in entries.items()}
        velocities = tuple(
            DecidedVelocity(float(each["rate"]), tuple(map(bool, each["uses_recorded"])), str(each["log"]))
            for each in entries.pop(VELOCITIES, ())
        )
        return check_preparation_settings(PreparationSettings(**entries)), velocities
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise InputError("a value is missing or has another form; identify the robot again") from None


def check_joints(table: Mapping[str, Any], robot: Robot, path: Path) -> None:
    """Raise InputError if a list in the table has another length than the robot has actuated coordinates."""
    for key in ("min_speed", "noise", "between_logs", "torque_scale"):
        values = table.get(key)
        if isinstance(values, list) and len(values) != len(robot.actuated):
            raise InputError(
                f"{path}: {key} of its identification has {len(values)} numbers, but the robot has "
                f"{len(robot.actuated)} actuated coordinates; write one for each"
            )


def find_contradictions(
    known: Collection[str], names: Sequence[str], beta: PerBase, std: PerBase, covariance: BaseByBase
) -> Iterator[str]:
    """Yield contradictions between the values of a file; contradictions occur only if the file was edited.

    ``known``: the names that parameters may have.
    """
    for name in names:
        if name.removesuffix("*") not in known:
            yield f"the robot has no parameter {name!r}{suggest_names(name, known)}"
    if len(set(names)) < len(names):
        yield "a base parameter is listed twice"
    if not np.isfinite(beta).all():
        yield f"the value of {names[int(np.argmin(np.isfinite(beta)))]} is not finite"
    if not np.isfinite(covariance).all():
        yield "the covariance contains numbers that are not finite"
        return
    variances = np.diag(covariance)
    if (variances < 0.0).any():
        yield f"the variance of {names[int(np.argmin(variances))]} is negative"
        return
    scale = np.where(variances > 0.0, np.sqrt(variances), 1.0)
    with np.errstate(over="ignore"):
        correlation = covariance / scale / scale[:, None]
    # Correlations above 1 imply a negative eigenvalue; infinite ones cannot be decomposed.
    if len(names) and (
        np.abs(correlation).max() > 1.0 + RELATIVE_TOLERANCE or np.linalg.eigvalsh(correlation)[0] < -RELATIVE_TOLERANCE
    ):
        yield "the covariance has a negative eigenvalue"
    differs = np.isfinite(std) & ~np.isclose(std, np.sqrt(variances), rtol=RELATIVE_TOLERANCE, atol=0.0)
    if differs.any() or np.isnan(std).any() or (std < 0.0).any():
        yield f"std of {names[int(np.argmax(differs | ~(std >= 0.0)))]} is not the root of its variance"


def _is_positive(value: object) -> bool:
    number = to_finite_number(value)
    return number is not None and number > 0.0


def _are_not_negative(values: object) -> bool:
    """Whether a value is a list of finite numbers that are not negative."""
    if not isinstance(values, list):
        return False
    numbers = [to_finite_number(value) for value in values]
    return all(number is not None and number >= 0.0 for number in numbers)


def _is_row_range(value: object) -> bool:
    """Whether a value is a list of two integers."""
    return isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value)


def _make_error(path: Path, key: str, value: object, form: str) -> InputError:
    return InputError(f"{path}: {key} of its identification is {describe_value(value)}; write {form}")


def is_without_geometry(table: Mapping[str, Any]) -> bool:
    """Whether the table of a model file contains parameters of a regrouped Lagrangian."""
    return UNKNOWN_LENGTHS in table or UNKNOWN_ANGLES in table
