"""BaseParameters: the combinations of standard parameters that can be identified from a robot's motion.

Identity      tau = Y theta = Y_b beta   with beta = K theta and Y_b = the independent columns of Y, for every theta
Notation      K             (base, params): row b contains the coefficients of base parameter b; columns in the order of
                            ``robot.parameter_names``
              independent   one standard parameter per row; these columns of K form an identity matrix

For a given choice of independent parameters, K is unique: all methods give the same numbers. The base regressor
consists of the independent columns of the standard regressor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ytheta.conventions import ALL_JOINT_PARAMETERS, FORCE_PARAMETER, LINK_PARAMETERS
from ytheta.display import Displayed
from ytheta.dynamics.kernels import find_or_trace
from ytheta.errors import InputError
from ytheta.findings import Finding, Severity
from ytheta.native.graph import Graph
from ytheta.robot.parts import Joint, JointKind, parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, Int, PerBase, Shaped, freeze

# Ratio of the smallest singular value that counts towards the rank to the largest that does not. A smaller ratio leaves
# the rank in doubt. Chosen on: rule of thumb.
MIN_GAP_RATIO = 1e3


class Identifiability(Enum):
    """How one standard parameter affects the motion: alone, only in combination with others, or not at all."""

    ALONE = "known alone"
    COMBINED = "only in combination"
    NO_EFFECT = "no effect"


class BaseFindingCode(StrEnum):
    """The kind of a finding about base parameters."""

    UNCERTAIN_RANK = "uncertain rank"  # the singular values do not show clearly how many base parameters there are


@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters(Displayed):
    """A minimal set of parameters that determines the torques of a robot. ``len(base)`` is their number.

    The torque is tau = Y theta = Y_b beta for all standard parameters theta, with beta = K theta. The matrix K has one
    row for each base parameter and one column for each name in ``robot.parameter_names``. Y_b consists of the columns
    of the regressor Y that belong to the independent parameters. All arrays are read-only.

    Attributes
    ----------
    robot            the robot to which the parameters belong
    method           the method that found them: "lin", "ha" or "qr"
    independent      one standard parameter per base parameter, which appears in no other base parameter
    entries          the matrix K, with floats, or with SymPy expressions in the robot's symbolic lengths
    selected         the standard parameters that were considered; the columns of all others, such as friction, are zero
    gap              None unless the method measures a rank; else two singular values, each divided by the largest one:
                     the smallest that counts towards the rank, and the largest that does not
    combinations     method "lin" only: the minimal linear combinations of Theorem 2 of Lin 1995, as in the paper; they
                     span the same space as the rows of K; ``combination_matrix`` has their coefficients as numbers
    names            names of the base parameters
    expressions      the base parameters as text, such as ``link2.mx + 0.4318·link3.m``
    K                the matrix K with numbers
    beta             values of the base parameters in the robot description
    places           indices of the independent parameters in theta
    identifiability  by standard parameter: known alone, only in combination, or no effect
    findings         a warning if the number of base parameters is not certain
    """

    noun: ClassVar[str] = "base parameters"
    # What only parameters without geometry have, see ``model_parameters``.
    unknown_geometry: ClassVar[Mapping[str, list[str]]] = {}
    function_texts: ClassVar[None] = None
    positive_names: ClassVar[tuple[str, ...]] = ()

    robot: Robot
    method: str
    independent: tuple[str, ...]
    entries: Shaped[np.ndarray, "base params"]
    selected: tuple[str, ...]
    gap: tuple[float, float] | None = None
    combinations: tuple[Combination, ...] = ()

    def __post_init__(self) -> None:
        freeze(self.entries)

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def standard_combinations(self) -> BaseParameters:
        """These parameters, which are combinations of standard parameters."""
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the independent parameters, with a star if the base parameter contains other parameters too."""
        alone = np.count_nonzero(self._occurs, axis=1) == 1
        return tuple(name if is_alone else f"{name}*" for name, is_alone in zip(self.independent, alone, strict=True))

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """Every base parameter as text, such as ``link2.mx + 0.4318·link3.m``, with six significant digits."""
        return self.format_expressions(digits=6)

    def format_expressions(self, *, digits: int) -> tuple[str, ...]:
        """Return the expressions with ``digits`` significant digits; 17 digits represent every double exactly."""
        return tuple(
            format_combination(row, self.robot.parameter_names, head=int(head), digits=digits)
            for row, head in zip(self.entries, self.places, strict=True)
        )

    @property
    def leading_terms(self) -> tuple[tuple[str, int], ...]:
        """The independent parameters, each with the power 0 of the length that multiplies it."""
        return tuple((name, 0) for name in self.independent)

    @cached_property
    def K(self) -> Float[np.ndarray, "base params"]:
        """The numerical matrix K with beta = K theta; raises UnsetLengthError if a symbolic length has no value."""
        return self._evaluate(self.entries)

    @cached_property
    def combination_matrix(self) -> Float[np.ndarray, "combinations params"]:
        """The coefficients of ``combinations``, one row for each; raises UnsetLengthError like K."""
        rows = [each.row for each in self.combinations]
        return self._evaluate(np.array(rows, dtype=object).reshape(len(rows), len(self.robot.parameter_names)))

    @cached_property
    def places(self) -> Int[np.ndarray, " base"]:
        """The indices of the independent parameters in theta."""
        index = {name: k for k, name in enumerate(self.robot.parameter_names)}
        return freeze(np.array([index[name] for name in self.independent], dtype=np.intp))

    @cached_property
    def beta(self) -> Float[np.ndarray, " base"]:
        """The values of the base parameters in the robot description."""
        return freeze(self.K @ self.robot.theta)

    @cached_property
    def identifiability(self) -> Mapping[str, Identifiability]:
        """The identifiability of every selected standard parameter, by name."""
        has_one_term = np.count_nonzero(self._occurs, axis=1) == 1
        alone = set(self.places[has_one_term].tolist())
        return classify_standard_parameters(self.robot, self.selected, self._occurs, alone)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """A warning if the gap between singular values is so small that the number of base parameters is in doubt."""
        if self.gap is None or self.gap[0] >= MIN_GAP_RATIO * self.gap[1]:
            return ()
        counted, left_out = self.gap
        statement = (
            "the number of base parameters is not certain: the smallest singular value that counts is "
            f"{counted:.1e}, the largest that does not is {left_out:.1e}"
        )
        remedy = "correct rounded angles and lengths in the description, or load it with a larger snap"
        fields = {"counted": counted, "left_out": left_out}
        return (Finding(BaseFindingCode.UNCERTAIN_RANK, Severity.WARNING, statement, remedy, fields=fields),)

    def check_robot(self, robot: Robot) -> None:
        """Raise an InputError unless the robot has the same geometry; inertias and drive parameters may differ."""
        check_same_geometry(self.robot, robot, "these base parameters belong", "base_parameters")

    def with_robot(self, robot: Robot) -> BaseParameters:
        """Return the base parameters of a robot with the same geometry."""
        return replace(self, robot=robot)

    def find_graph(self, name: str, robot: Robot, options: Mapping[str, Any]) -> Graph:
        """Return the graph of a regressor for ``dynamics.kernels``.

        The regressor consists of the columns of the independent parameters, because their columns of K form the
        identity matrix.
        """
        return find_or_trace(name, robot, parameters=self.independent, **options)

    # The next two methods return standard parameters for a given beta. These parameters need not be physically
    # consistent: physically consistent parameters require semidefinite programming, see ``identify``.

    def minimum_norm(self, beta: Float[np.ndarray, " base"]) -> Float[np.ndarray, " params"]:
        """Return the standard parameters of smallest norm with K theta = beta; parameters not selected are zero."""
        return self.nearest(beta, np.zeros(self.K.shape[1]))

    def nearest(
        self, beta: Float[np.ndarray, " base"], prior: Float[np.ndarray, " params"], *, scale: np.ndarray | None = None
    ) -> Float[np.ndarray, " params"]:
        """Return the standard parameters nearest to ``prior`` with K theta = beta.

        The distance is the Euclidean norm of (theta - prior) / scale. ``scale`` contains one positive number per
        parameter, because kg and kg m2 are not comparable; by default all are one.
        """
        beta, prior = self._check_vector("beta", beta, len(self)), self._check_vector("prior", prior, self.K.shape[1])
        units = np.ones(self.K.shape[1]) if scale is None else np.asarray(scale, dtype=float)
        if units.shape != (self.K.shape[1],) or not (units > 0.0).all() or not np.isfinite(units).all():
            raise InputError(f"scale must be {self.K.shape[1]} positive numbers, one per standard parameter")
        step, *_ = np.linalg.lstsq(self.K * units, beta - self.K @ prior, rcond=None)
        return prior + units * step

    def __repr__(self) -> str:
        counts = f"{len(self)} of {len(self.selected)} parameters"
        return f"BaseParameters({counts} of {self.robot.name!r}, by {self.method})"

    def _check_vector(self, name: str, values: np.ndarray, size: int) -> Float[np.ndarray, " size"]:
        try:
            vector = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{name} must be {size} finite numbers, not {values!r}") from None
        if vector.shape != (size,) or not np.isfinite(vector).all():
            raise InputError(
                f"{name} must be {size} finite numbers; it has shape {vector.shape}, or contains NaN or inf"
            )
        return vector

    @cached_property
    def _occurs(self) -> np.ndarray:
        """A mask of the nonzero entries of K; symbolic entries are evaluated if all lengths have values."""
        if not self.robot.unset_symbols:
            return self.K != 0.0
        return np.array([[bool(entry != 0) for entry in row] for row in self.entries], dtype=bool).reshape(
            self.entries.shape
        )

    def _evaluate(self, entries: Shaped[np.ndarray, "rows params"]) -> Float[np.ndarray, "rows params"]:
        """Return entries as numbers, with the values of the symbolic lengths."""
        if entries.dtype == object:
            values = self._length_values
            numbers = [float(e) if isinstance(e, int | float) else float(e.subs(values)) for e in entries.ravel()]
            entries = np.array(numbers, dtype=float).reshape(entries.shape)
        return freeze(np.array(entries, dtype=float))

    @property
    def _length_values(self) -> dict[str, Any]:
        _ = self.robot.numeric  # raises if a length has no value
        return {name: value for name, value in self.robot.lengths if value is not None}


def without_regrouping(robot: Robot, names: Sequence[str]) -> BaseParameters:
    """Return standard parameters as base parameters, without checking whether they are independent."""
    K = np.eye(len(robot.parameter_names))
    rows = [robot.parameter_names.index(name) for name in names]
    return BaseParameters(robot, "none", tuple(names), K[rows], selected=tuple(names))


def check_same_geometry(own: Robot, robot: Robot, subject: str, function: str) -> None:
    """Raise an InputError unless two robots have the same geometry; inertias and drive parameters may differ."""
    if own is not robot and _collect_geometry(own) != _collect_geometry(robot):
        raise InputError(
            f"{subject} to robot {own.name!r}, whose joints, lengths, gravity or mounting differ from those of "
            f"{robot.name!r}; use {function} of that robot"
        )


def classify_standard_parameters(
    robot: Robot, selected: Sequence[str], occurs: Bool[np.ndarray, "base params"], alone: Collection[int]
) -> dict[str, Identifiability]:
    """Return the identifiability of the selected standard parameters.

    ``occurs``: whether a standard parameter (column) occurs in an identifiable combination (row). ``alone``: indices of
    the standard parameters that are such a combination by themselves.
    """
    result: dict[str, Identifiability] = {}
    chosen = set(selected)
    for k, name in enumerate(robot.parameter_names):
        if name in chosen:
            kind = Identifiability.ALONE if k in alone else Identifiability.COMBINED
            result[name] = kind if occurs[:, k].any() else Identifiability.NO_EFFECT
    return result


def _collect_geometry(robot: Robot) -> tuple[object, ...]:
    """Return the properties of a robot that base parameters depend on: all but inertias and drive parameters.

    Links on fixed joints have no parameters, so that a robot with its flange and one without are the same.
    """
    robot = robot.merged
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    places = tuple((j.name, j.kind, j.parent, j.child, j.placement, j.axis, j.seat) for j in joints)
    drives = tuple((name, drive.coulomb_speed, drive.max_curve_speed) for name, drive in robot.drives)
    motors = tuple((motor.name, motor.turns_with) for motor in robot.motors)
    symbols = (robot.lengths, robot.angles)
    others = (robot.parameter_names, robot.actuated, robot.couplings, robot.gravity_in_base, symbols)
    return (places, drives, motors, *others, tuple((force.name, force.torque, force.where) for force in robot.forces))


# Parameters in which the torque of a robot is linear and which can be identified: the interface of all kinds.
#
# Two kinds exist. ``BaseParameters`` need the geometry: their regressor consists of columns of the standard regressor.
# The parameters of a ``Regrouping`` contain the unknown lengths: their regressor needs no geometry. Equations,
# estimators and assessment use only this interface: what differs between the kinds is one of its properties.


@runtime_checkable
class ModelParameters(Protocol):
    """Identifiable parameters of a robot; their number is the length.

    Attributes
    ----------
    robot            the robot to which the parameters belong
    noun             what the parameters are called: "base parameters" or "model parameters"
    method           the method that found them
    names            names of the parameters
    independent      the names without marks; the names of drive parameters are those of standard parameters
    expressions      the parameters as combinations of standard parameters, as text
    beta             values in the robot description, which estimators keep along directions that no data identify
    leading_terms    a standard parameter of each combination and the power of length that multiplies it: the unit
    selected         the standard parameters of which the parameters consist
    identifiability  by standard parameter: known alone, only in combination, or no effect
    standard_combinations
                     the parameters as combinations beta = K theta of standard parameters; None if the geometry is
                     unknown, since K depends on it
    unknown_geometry lengths and angles without a value, for model files and findings; empty if the geometry is known
    function_texts   the function of the motion that multiplies each parameter, as text; None if the geometry is known
    positive_names   sums of masses and moments of inertia, which cannot be negative; empty if the geometry is known,
                     since bodies are then found for the parameters
    """

    @property
    def robot(self) -> Robot: ...
    @property
    def noun(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def independent(self) -> tuple[str, ...]: ...
    @property
    def expressions(self) -> tuple[str, ...]: ...
    @property
    def beta(self) -> PerBase: ...
    @property
    def leading_terms(self) -> tuple[tuple[str, int], ...]: ...
    @property
    def selected(self) -> tuple[str, ...]: ...
    @property
    def identifiability(self) -> Mapping[str, Identifiability]: ...
    @property
    def standard_combinations(self) -> BaseParameters | None: ...
    @property
    def unknown_geometry(self) -> Mapping[str, list[str]]: ...
    @property
    def function_texts(self) -> tuple[str, ...] | None: ...
    @property
    def positive_names(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    def check_robot(self, robot: Robot) -> None: ...
    def with_robot(self, robot: Robot) -> ModelParameters: ...
    def find_graph(self, name: str, robot: Robot, options: Mapping[str, Any]) -> Graph: ...


# Linear combinations of standard parameters: those of Theorem 2 of Lin, and combinations as text.


MAX_PRINTED_DENOMINATOR = 10**6

_UNIT_FACTOR = re.compile(r"(?<![\w.])1\.0*\*(?!\*)")  # matches a redundant factor 1.0 in text from SymPy


@dataclass(frozen=True, eq=False)
class Combination:
    """One minimal linear combination of Theorem 2 of Lin 1995.

    Attributes
    ----------
    link             the link behind the joint to which the combination belongs
    constant         the constant of the composite body behind this joint: U33, U11-U22, U12, U13, U23, kx, ky, kz, m,
                     kappa1 (86), kappa2 (87) or, not in the paper, Ia
    item             the item of Theorem 2, 1 to 5; None for Ia
    row              coefficients, one per standard parameter: floats, or SymPy expressions in symbolic lengths
    parameter_names  names of the standard parameters
    name             link and constant, such as ``link2.U11-U22``
    expression       the combination as text, such as ``link2.mx + 0.4318·link3.m``
    """

    link: str
    constant: str
    item: int | None
    row: Shaped[np.ndarray, " params"]
    parameter_names: tuple[str, ...] = field(repr=False)

    @property
    def name(self) -> str:
        return parameter_name(self.link, self.constant)

    @cached_property
    def expression(self) -> str:
        """The combination as text, with six significant digits."""
        head = int(np.flatnonzero(self.row != 0)[0])
        return format_combination(self.row, self.parameter_names, head=head, digits=6)


def format_combination(row: Shaped[np.ndarray, " params"], names: Sequence[str], *, head: int, digits: int) -> str:
    """Return text such as ``link2.mx + 0.4318·link3.m``: the parameter with index ``head`` first, then the others."""
    text = ""
    for k in sorted(np.flatnonzero(row != 0).tolist(), key=lambda place: place != head):
        sign, factor = _format_factor(row[k], digits)
        term = f"{factor}·{names[k]}" if factor else names[k]
        text += f" {sign} {term}" if text else term if sign == "+" else f"-{term}"
    return text or "0"


def _format_factor(value: Any, digits: int) -> tuple[str, str]:
    """Return the sign and the absolute value of a coefficient as text; the text of 1 is empty."""
    if isinstance(value, int | float | np.floating | np.integer):
        sign, text = "-" if value < 0 else "+", f"{abs(value):.{digits}g}"
        return sign, "" if text == "1" else text
    if value.could_extract_minus_sign():
        sign, magnitude = "-", -value
    else:
        sign, magnitude = "+", value
    if magnitude == 1:
        return sign, ""
    text = format_expression(magnitude, digits)
    return sign, f"({text})" if magnitude.is_Add else text


def format_expression(expression: Any, digits: int) -> str:
    """Return a SymPy expression as text: floats and long fractions with so many digits, short fractions unchanged."""
    numbers = (n for n in expression.atoms() if n.is_Float or (n.is_Rational and n.q > MAX_PRINTED_DENOMINATOR))
    rounded = expression.xreplace({number: number.n(digits) for number in numbers})
    return _UNIT_FACTOR.sub("", str(rounded)).replace("**", "^").replace("*", "·")


# Reduction of any basis of the row space to K, which is unique once the independent parameters are chosen.
#
# Columns are visited in a fixed order, and a column is kept if it is independent of the columns kept before. The order
# goes from the base to the tips. Within a link, the parameters that a motion of its joint identifies best come first.
# If the joint axes are z axes, this order keeps the same parameters as textbooks: Ixx, Ixy, Ixz, Iyz, Izz, mx, my of a
# link on a revolute joint, and m, mx, my, mz of a link on a prismatic joint. Joint parameters come after all link
# parameters, and the magnitudes of declared forces come last.


AXES = "xyz"
# Ratio of the independent component of a column to the norm of the largest column; up to it, the column is dependent.
# Chosen on: reasoning, far above rounding errors and far below the ratios of independent columns of real robots.
DEPENDENCE_TOLERANCE = 1e-7
# Smallest ratio of a coefficient to the largest one of its row; below it, the coefficient becomes 0.
# Chosen on: rule of thumb.
ROUNDING_TOLERANCE = 1e-10


def order_columns(robot: Robot, selected: Sequence[str]) -> list[int]:
    """Return the indices of the selected parameters in theta, in the order in which columns are visited."""
    index = {name: k for k, name in enumerate(robot.parameter_names)}
    joints = robot.numeric_in_angles.merged.joints
    names = [parameter_name(joint.child, p) for joint in joints for p in _order_parameters(joint)]
    links = len(names)
    others = robot.parameter_names[links:]
    for parameter in (*ALL_JOINT_PARAMETERS, FORCE_PARAMETER):
        names += [name for name in others if name.rpartition(".")[2] == parameter]
    selected_names = set(selected)
    return [index[name] for name in names if name in selected_names]


def reduce_to_independent(
    rows: Float[np.ndarray, "rows params"], order: Sequence[int], rank: int, *, tolerance: float = DEPENDENCE_TOLERANCE
) -> tuple[list[int], Float[np.ndarray, "rank params"]]:
    """Return the sorted indices of the independent columns, and K with an identity matrix in these columns.

    ``rank`` is the known rank of ``rows``, whose columns should have comparable norms. A column is dependent if its
    component orthogonal to the columns kept before is at most ``tolerance`` times the largest column. Entries of K
    that are rounding errors become zero.
    """
    independent: list[int] = []
    smallest = tolerance * float(np.linalg.norm(rows, axis=0).max(initial=0.0))
    basis = np.zeros((len(rows), 0))
    for k in order:
        if len(independent) == rank:
            break
        rest = rows[:, k] - basis @ (basis.T @ rows[:, k])
        rest -= basis @ (basis.T @ rest)  # a second Gram-Schmidt step, because one alone loses orthogonality
        size = np.linalg.norm(rest)
        if size > smallest:
            independent.append(k)
            basis = np.column_stack([basis, rest / size])
    if len(independent) < rank:
        raise ArithmeticError(
            f"only {len(independent)} of {rank} independent columns found; the geometry is badly scaled"
        )
    independent.sort()
    projected = basis.T @ rows
    K = np.linalg.solve(projected[:, independent], projected)
    not_selected = np.setdiff1d(np.arange(rows.shape[1]), order)
    K[:, not_selected] = 0.0
    K[np.abs(K) < ROUNDING_TOLERANCE * np.abs(K).max(axis=1, keepdims=True, initial=1.0)] = 0.0
    K[:, independent] = np.eye(rank)
    return independent, K


def _order_parameters(joint: Joint) -> list[str]:
    """Return the names of the ten parameters of the link behind a joint, the most identifiable first."""
    if joint.kind is not JointKind.REVOLUTE:
        return ["m", "mx", "my", "mz", *LINK_PARAMETERS[4:]]
    axis = np.abs(np.array(joint.seat.rotation).T @ np.array(joint.axis))
    along = AXES[int(np.argmax(axis))]
    across = max(other for other in AXES if other != along)
    last = [f"m{along}", f"I{across}{across}", "m"]
    first = [f"I{along}{along}"]
    return first + [p for p in (*LINK_PARAMETERS[4:], *LINK_PARAMETERS[1:4]) if p not in (*first, *last)] + last
