"""Base parameters by numerical rank: factorization of the regressor on a structured sample of states.

Identity      the rows of K span the same space as the rows of Y(q, qd, qdd) for all states
Reference     Gautier 1991, "Numerical calculation of the base inertial parameters of robots"
Accepts       everything that moves: loops, couplings, motors, rotor inertia, friction, declared forces
Notation      code   meaning
              L      the size of the robot, the unit of length
              W      the regressors of all states, stacked and dimensionless
Differs from  the paper in:
              - States. Y theta vanishes for all motions if and only if the mass matrix and the gravity torque of theta
                vanish for all poses. So the states are poses at rest, first without acceleration, then with one joint
                accelerated at a time.
              - Velocities. They are used for friction only, which is the part of Y that is odd in the velocity: half
                the difference of Y at opposite velocities. Coriolis and centrifugal terms are even, and follow from
                the mass matrices of all poses.
              - Units. They are the robot's size, 1 kg and G, so that a singular value measures the effect of a
                parameter independently of the sample. The unit of a declared force is chosen such that its largest
                torque is one unit of torque.
              - Friction. The column of load-dependent friction (fl) is not a function of motion alone: it depends on
                the inertias, and is proportional to the size of a torque, of which no other column is a multiple. Each
                fl is therefore a base parameter by itself, and does not take part in the factorization. Friction is
                not bounded at ``friction_speed``, above which fv, fc and fs would have proportional columns.
              - Blocks. W is factorized coordinate by coordinate, from arrays of poses (``sampling``), without a graph.
              - Order. Independent columns are searched in a fixed order, so a robot has the same basis in every run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from ytheta.conventions import CLOSURE_TOLERANCE, FORCE_PARAMETER
from ytheta.dynamics.kernels import TRACING_SOURCES, describe_versions
from ytheta.engine.local import limit_blas_threads
from ytheta.errors import InputError
from ytheta.identifiability.base_parameters import MIN_GAP_RATIO, BaseParameters, order_columns, reduce_to_independent
from ytheta.identifiability.sampling import PoseSample, RestRegressor, SampledDrives, fill_cube, sample_poses
from ytheta.native import cache as disk
from ytheta.native.fingerprint import NoFingerprintError, fingerprint, fingerprint_sources
from ytheta.robot.parameters import is_dissipative, length_exponents
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, Int

G = 9.81  # m/s2, the unit of acceleration
# Ratio of a singular value to the largest one; up to it, the singular value counts as a rounding error. Chosen on:
# rounded angles in files, 3.1416 differs from half a turn by 7.3e-6.
MIN_SINGULAR_VALUE = 1e-5
# Smallest singular value that counts if a geometry is known to many digits and all values left out are rounding errors
# of arithmetic. Chosen on: reasoning, since loops give some parameters small effects.
MIN_EXACT_SINGULAR_VALUE = 1e-6
# Largest singular value that is a rounding error of arithmetic. Chosen on: rule of thumb.
MAX_ARITHMETIC_ERROR = 1e-12


def explain_refusal(robot: Robot) -> str | None:
    """Return the reason why the robot is not accepted, or None if it is."""
    if robot.loops and not robot.actuated:
        return (
            f"robot {robot.name!r} has loops but no actuated coordinates; choose them with 'actuated' in the robot "
            "description"
        )
    if robot.unset_lengths:
        return (
            f"robot {robot.name!r} has a length without a value, {robot.unset_lengths[0]!r}; set it with "
            "robot.with_lengths or --length, or use method lin or ha, which keep it as a symbol"
        )
    if not robot.actuated:
        return f"robot {robot.name!r} has no moving joint, so nothing can be identified"
    return None


def base_parameters(robot: Robot, *, selected: Sequence[str]) -> BaseParameters:
    """Return the base parameters among the selected standard parameters."""
    reason = explain_refusal(robot)
    if reason is not None:
        raise InputError(reason)
    names = tuple(name for name in robot.parameter_names if name in set(selected))
    basis = find_or_compute(robot, names, compute_basis)
    return BaseParameters(robot, "qr", basis.independent, basis.K, names, basis.gap)


def compute_basis(robot: Robot, names: Sequence[str]) -> NumericalBasis:
    """Compute the basis of the named parameters, without the cache."""
    described = robot
    robot = robot.with_drives(lambda _, drive: replace(drive, load=None, friction_speed=0.0))
    with limit_blas_threads():
        basis = _factorize(robot, [name for name in names if not name.endswith(".fl")])
    return _add_load_friction(basis, described, names)


def _add_load_friction(basis: NumericalBasis, robot: Robot, names: Sequence[str]) -> NumericalBasis:
    """Return the basis with each fl among the names as a base parameter of its own."""
    place = {name: k for k, name in enumerate(robot.parameter_names)}
    independent = sorted([*basis.independent, *(name for name in names if name.endswith(".fl"))], key=place.__getitem__)
    K = np.zeros((len(independent), len(place)))
    rows = [k for k, name in enumerate(independent) if not name.endswith(".fl")]
    columns = [k for name, k in place.items() if not name.endswith(".fl")]
    K[np.ix_(rows, columns)] = basis.K
    for row, name in enumerate(independent):
        if name.endswith(".fl"):
            K[row, place[name]] = 1.0
    return NumericalBasis(tuple(independent), K, basis.gap)


def _factorize(robot: Robot, names: Sequence[str]) -> NumericalBasis:
    """Compute the basis of the named parameters of a robot without load-dependent friction."""
    units = _choose_units(robot)
    merged = robot.numeric.merged
    sample = sample_poses(robot, units.length)
    if robot.forces:
        sample = _drop_undefined_poses(robot, sample)
        units = _add_force_units(units, SampledDrives(merged, sample).forces)
    regressor = RestRegressor(merged, sample)
    blocks = _iterate_blocks_at_rest(regressor, units)
    if any(is_dissipative(name) for name in names):
        blocks = chain(blocks, _iterate_friction_blocks(regressor.drives, units))
    is_selected = np.isin(robot.parameter_names, names)
    sizes, directions = _decompose(blocks, is_selected)
    relative = sizes / max(sizes.max(initial=0.0), np.finfo(float).tiny)
    has_many_digits = bool(robot.loops) and robot.closure_tolerance <= CLOSURE_TOLERANCE
    rank = count_independent(relative, has_many_digits=has_many_digits)
    order = order_columns(robot, names)
    independent, K = reduce_to_independent(directions[:rank], order, rank, tolerance=MIN_SINGULAR_VALUE)
    K = K * units.parameters[independent][:, None] / units.parameters
    below = float(relative[rank]) if rank < len(relative) else 0.0
    gap = (float(relative[rank - 1]), below) if rank else (0.0, below)
    return NumericalBasis(tuple(robot.parameter_names[k] for k in independent), K, gap)


def count_independent(relative: Float[np.ndarray, " values"], *, has_many_digits: bool) -> int:
    """Return the rank that follows from singular values in descending order, relative to the largest one."""
    rank = int(np.count_nonzero(relative > MIN_SINGULAR_VALUE))
    exact = int(np.count_nonzero(relative > MIN_EXACT_SINGULAR_VALUE))
    if not has_many_digits or rank in (0, exact) or relative[rank - 1] >= MIN_GAP_RATIO * relative[rank]:
        return rank
    return exact if (relative[exact:] < MAX_ARITHMETIC_ERROR).all() else rank


def _iterate_blocks_at_rest(regressor: RestRegressor, units: _Units) -> Iterator[_Block]:
    """Yield the rows of every coordinate at rest, first without acceleration, then with each coordinate accelerated.

    Accelerations of coordinates that do not change a row repeat it, which is the same as a larger weight.
    """
    for c, rows in enumerate(regressor.iterate_blocks()):
        accelerations = units.accelerations[list(rows.related)]
        accelerated = rows.weight[:, None] + rows.inertia * accelerations[:, None]
        scale = units.parameters[rows.columns] / units.torques[c]
        repetitions = 1 + len(units.torques) - len(rows.related)
        W = np.concatenate([rows.weight, accelerated.reshape(-1, len(rows.columns))]) * scale
        weights = np.repeat([np.sqrt(repetitions), 1.0], [len(rows.weight), len(W) - len(rows.weight)])
        yield _Block(rows.columns, W, weights)


def _iterate_friction_blocks(drives: SampledDrives, units: _Units) -> Iterator[_Block]:
    """Yield the friction of every coordinate at velocities of both signs, which differ in size."""
    size = len(units.torques)
    points = fill_cube(2 * size + 2, size)
    velocities = np.where(points < 0.5, -1.0, 1.0) * (0.5 + points) * units.rates
    for c, torque in enumerate(units.torques):
        columns, rows = drives.compute_friction_rows(c, velocities)
        yield _Block(columns, rows * (units.parameters[columns] / torque), np.ones(len(rows)))


def _decompose(
    blocks: Iterable[_Block], is_selected: Bool[np.ndarray, " params"]
) -> tuple[Float[np.ndarray, " values"], Float[np.ndarray, "values params"]]:
    """Return singular values and right singular vectors of W, from the triangular factors of its blocks of rows."""
    selected = np.flatnonzero(is_selected)
    place = np.cumsum(is_selected) - 1
    factors = [np.zeros((0, len(selected)))]
    for block in blocks:
        kept = is_selected[block.columns]
        W = block.W[:, kept]
        # Near singular poses of loops, passive joints move very fast; the rows of such poses must not dominate.
        W = W * (block.weights / np.maximum(np.abs(W).max(axis=1, initial=0.0), 1.0))[:, None]
        R = np.linalg.qr(W, mode="r")
        factor = np.zeros((len(R), len(selected)))
        factor[:, place[block.columns[kept]]] = R
        factors.append(factor)
    R = np.linalg.qr(np.concatenate(factors), mode="r")
    sizes, vectors = _compute_singular_vectors(np.asarray(R))
    directions = np.zeros((len(vectors), len(is_selected)))
    directions[:, selected] = vectors
    return sizes, directions


def _compute_singular_vectors(
    matrix: Float[np.ndarray, "rows columns"],
) -> tuple[Float[np.ndarray, " values"], Float[np.ndarray, "values columns"]]:
    """Return singular values and right singular vectors.

    NumPy's divide-and-conquer method does not converge for a few matrices, depending on the processor; the slower QR
    iteration then gives the same decomposition.
    """
    try:
        _, sizes, vectors = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:
        from scipy.linalg import svd  # imported here, since it is hardly ever needed

        _, sizes, vectors = svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return sizes, vectors


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows of W that belong to one coordinate, without the columns that are zero, and the weights of these rows."""

    columns: Int[np.ndarray, " columns"]
    W: Float[np.ndarray, "rows columns"]
    weights: Float[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class _Units:
    """Units of all quantities, derived from the robot's size, 1 kg and G."""

    length: float
    torques: Float[np.ndarray, " actuated"]
    rates: Float[np.ndarray, " actuated"]
    accelerations: Float[np.ndarray, " actuated"]
    parameters: Float[np.ndarray, " params"]


def _choose_units(robot: Robot) -> _Units:
    numeric = robot.numeric.merged
    length = max(
        sum(
            float(np.linalg.norm(frame.matrix[:3, 3]))
            for j in numeric.path(link.name)
            for frame in (j.placement, j.seat)
        )
        for link in numeric.links
    )
    L = length or 1.0
    sliding = robot.prismatic_joints
    lever = np.array([1.0 if name in sliding else L for name in robot.actuated])
    sizes = L ** length_exponents(robot)
    motor_levers = _compute_motor_levers(robot, sliding, L)
    for k, name in enumerate(robot.parameter_names):
        owner, _, parameter = name.rpartition(".")
        a = motor_levers.get(owner, 1.0 if owner in sliding else L)
        # fc and fo are torques, fv is a torque divided by a rate, fs a torque divided by the root of a rate;
        # _add_force_units replaces the unit of forces.
        rate = np.sqrt(G * L) / a
        drive = {"Ia": a**2, "fv": a**2 * np.sqrt(G / L), "fc": a * G, "fo": a * G, "fs": a * G / np.sqrt(rate)}
        drive[FORCE_PARAMETER] = 1.0
        sizes[k] = drive.get(parameter, sizes[k])
    return _Units(L, lever * G, np.sqrt(G * L) / lever, G / lever, sizes)


def _compute_motor_levers(robot: Robot, sliding: Collection[str], length: float) -> dict[str, float]:
    """Return for each motor the displacement of the robot, as a length, per rad of motor rotation."""
    factors, _ = robot.motor_map
    levers = np.array([1.0 if name in sliding else length for name in robot.coordinates])
    rotations = (np.abs(factors) / levers).max(axis=1, initial=0.0)
    return {
        motor.name: 1.0 / rotation if rotation else length
        for motor, rotation in zip(robot.motors, rotations, strict=True)
    }


def _drop_undefined_poses(robot: Robot, sample: PoseSample) -> PoseSample:
    """Drop the poses in which a declared force has no finite value, such as the root of a negative number."""
    with np.errstate(invalid="ignore"):
        defined = np.isfinite(SampledDrives(robot.numeric.merged, sample).forces).all(axis=(1, 2))
    if not 2 * np.count_nonzero(defined) > len(defined):
        raise InputError(
            f"robot {robot.name!r}: forces ({', '.join(force.name for force in robot.forces)}) have no finite value in "
            "most of the workspace, so a rank cannot be measured; correct their expressions"
        )
    return sample.select(defined)


def _add_force_units(units: _Units, columns: Float[np.ndarray, "poses actuated forces"]) -> _Units:
    """Return the units completed by those of the declared forces; a force without effect keeps the unit 1."""
    before = len(units.parameters) - columns.shape[2]
    largest = np.abs(columns / units.torques[:, None]).max(axis=(0, 1))
    force_units = 1.0 / np.where(largest > 0.0, largest, 1.0)
    return replace(units, parameters=np.concatenate([units.parameters[:before], force_units]))


# Reuse of numerical bases: the basis of a robot is found again by a fingerprint of everything that determines it.
#
# Payload    JSON with the independent parameters, the rows of K and the gap; JSON represents every double exactly
# Trust      see ``native.cache``; a payload of another layout counts as missing


@dataclass(frozen=True, eq=False)
class NumericalBasis:
    """Independent parameters, the matrix K, and the singular values above and below the rank; see BaseParameters."""

    independent: tuple[str, ...]
    K: Float[np.ndarray, "base params"]
    gap: tuple[float, float]


def find_or_compute(
    robot: Robot, names: Sequence[str], compute: Callable[[Robot, Sequence[str]], NumericalBasis]
) -> NumericalBasis:
    """Return the basis of the named parameters from the cache; if it is not there, compute and store it."""
    sources = fingerprint_sources(*TRACING_SOURCES, "identifiability")
    if sources is None:  # it is not known which code runs
        return compute(robot, names)
    try:
        values = fingerprint((robot, names))
    except NoFingerprintError:
        return compute(robot, names)
    key = disk.make_key(compute.__name__, values, describe_versions(), sources)
    payload = disk.read(key, disk.BASIS)
    basis = None if payload is None else decode_basis(payload)
    if basis is None:
        basis = compute(robot, names)
        if fingerprint_sources(*TRACING_SOURCES, "identifiability") == sources:
            disk.write(key, encode_basis(basis), disk.BASIS)
    return basis


def encode_basis(basis: NumericalBasis) -> bytes:
    """Return the payload of a basis."""
    content = {"independent": basis.independent, "shape": basis.K.shape, "K": basis.K.tolist(), "gap": basis.gap}
    return json.dumps(content).encode()


def decode_basis(payload: bytes) -> NumericalBasis | None:
    """Return the basis of a payload, or None if the payload has another layout."""
    try:
        content = json.loads(payload)
        K = np.array(content["K"], dtype=float).reshape(content["shape"])
        return NumericalBasis(tuple(content["independent"]), K, (content["gap"][0], content["gap"][1]))
    except (ValueError, LookupError, TypeError):
        return None
