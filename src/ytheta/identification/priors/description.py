"""The prior around a description: links in the log-det metric of their pseudo-inertias, drives in units of torque.

Identity      P - P0 = s (z m p pᵀ + m (v pᵀ + p vᵀ) / √2 + S_c^½ Z S_c^½ + τ m |c|² Z' / √2),   p = (c, 1),
              v = (S_c/m + |c|² 1)^½ z
Reference     T. Lee, P. M. Wensing and F. C. Park, Geometric Robot Dynamic Identification: A Convex Programming
              Approach, IEEE Transactions on Robotics 36(2), 2020: the metric tr(P0⁻¹ dP P0⁻¹ dP)
Notation      code   meaning
              P0     pseudo-inertia of a plausible body, see ``consistency.reference``: the description, with floors
              c, m   its centre of mass and its mass; S_c are its second moments about the centre
              z, Z   standard normal numbers, Z' like Z; off the diagonal of Z, divided by √2
              s      scale: 0.2 if the description is off by about 20 %; τ: a typical s
Differs from  the paper in: |c|² 1 is added in v; without it, the distance is that of the paper. The centre of mass
              of a description that is off by 20 % is off by 20 % of its distance from the joint, however small the
              body is. Such a shift d, of size s |c| / √2 in every direction, also changes the second moments about
              the joint by m d dᵀ, which varies like s² m |c|² Z' / √2; across a slender link this is more than S_c
              allows. One of the two s is replaced by τ, so that all changes are in proportion to s. The mass, the
              centre and the second moments of a body have a factor of their own each
              The centre of a placeholder is often written as zero, which says nothing about its distance: |c| is at
              least that of the middle of the joints on the link

The logarithm of s is the sum of three terms: one for the description, one for the link, one for mass, centre or second
moments. Their distributions are statements about descriptions in general:

    description    designed links are off by about 25 %, and never by more than 50 % as a whole; a few descriptions are
                   exact. Placeholders (see ``consistency.reference``) say little: they are off by 100 %, and by a
                   factor 3 more or less
    link           close to one for most links, and anything for a few (a heavy tail): a load, a gripper or a
                   counterweight that the description lacks releases its own link, and the others stay as they are.
                   What a description lacks weighs at most as much as its heaviest link
    component      a factor 1.6 more or less

A rotor inertia, seen from the joint, is about the highest torque of the drive divided by the acceleration that it would
give the rotor alone, whatever the motion of the log; gears are chosen such that it is of the order of 100 rad/s². All
rotors of a robot share a factor, which is zero if torques are measured behind the gears, and each has a factor of its
own. Offsets and friction laws have one scale per family: torque that they cause, relative to the joint's torque.
Viscous and Coulomb friction and declared forces are flat: the description says nothing about them. The offset of a
drive that moves in one direction only cannot be told from its Coulomb friction: its scale is the typical one, whatever
the evidence says about the family, so that the sum of both counts as Coulomb friction, and both are as uncertain as a
typical offset.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ytheta.conventions import LINK_PARAMETERS
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.consistency.reference import PlausibleReference, make_plausible_reference
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.priors.prior import EarlierModel, Family, Hyperparameter, Prior, invert_rows
from ytheta.robot.inertia import Inertia
from ytheta.robot.parameters import FRICTION_PARAMETERS, with_theta
from ytheta.robot.parts import parameter_name
from ytheta.robot.robot import Robot
from ytheta.shapes import BaseByBase, BaseBySelected, Bool, Float, Matrix3, Matrix4, PerBase, PerParameter

# Typical relative deviation of a designed link, τ of the module docstring. Chosen on: rule of thumb for masses from
# design files; simulated robots of the calibration, whose deviation is 0.25 on average.
TYPICAL_SCALE = 0.25
# Hyperparameters are logarithms of factors of scales: what designed links have in common, and placeholders. Chosen on:
# reasoning, see the module docstring; simulated robots of the calibration with seeds 100 to 102 and 500 to 502.
DESCRIPTION = Hyperparameter("description", math.log(TYPICAL_SCALE), 0.4, maximum=math.log(0.5), tail=0.5)
PLACEHOLDERS = Hyperparameter("placeholders", 0.0, math.log(3.0))
COMPONENTS = tuple(Hyperparameter(name, 0.0, 0.5) for name in ("mass", "center", "second moments"))
# The factor of a link: width and tail (a Cauchy distribution). Chosen on: the same simulated robots.
LINK_STD, LINK_TAIL = 0.4, 1.0
# Of a load that the description does not know, relative to the floors of a body: typically half of the heaviest link.
LOAD = Hyperparameter("", math.log(30.0), 1.5)
# Acceleration that the highest torque of a drive would give its rotor alone, in rad/s² or m/s². Chosen on: published
# rotor inertias, gears and limits of the PUMA 560 (80 to 155), KR300 (16 to 190) and TX40 (360 to 2900).
ROTOR_ACCELERATION = 100.0
# Standard deviation of the logarithm of the factor of all rotor inertias, and of each. Chosen on: the same robots.
ROTORS_STD, ROTOR_STD = math.log(5.0), 0.7
# Highest torque of a drive without a limit, relative to the RMS of the log; and the range within which a limit is
# believed. Chosen on: rule of thumb; files contain limits such as 1000 Nm for every joint.
PEAK_TORQUE_RATIO, PEAK_TORQUE_RANGE = 4.0, (2.0, 100.0)
# Torque that a parameter of a family causes, as a share of the joint's torque. Chosen on: rule of thumb.
TYPICAL_SHARE = 0.1
# Share of the transmitted torque that a gear loses, and the standard deviation of its logarithm. Chosen on: rule of
# thumb, 3 to 30 %; while looking at half a log of the KR300.
TYPICAL_LOSS, LOSS_STD = 0.1, math.log(3.0)
FAMILIES = {
    Family.ROTOR: Hyperparameter(Family.ROTOR.value, 0.0, ROTORS_STD),
    Family.LOAD: Hyperparameter(Family.LOAD.value, math.log(TYPICAL_LOSS), LOSS_STD),
    **{
        family: Hyperparameter(family.value, math.log(TYPICAL_SHARE), math.log(10.0))
        for family in (Family.ROOT, Family.OFFSET)
    },
}
FAMILY_OF_SYMBOL = {"Ia": Family.ROTOR, "fs": Family.ROOT, "fl": Family.LOAD, "fo": Family.OFFSET}
# Correlation of the columns of offset and Coulomb friction, from which on a drive moves in one direction only: it is
# 1 - 2 s if the drive moves back for a share s of the time. Chosen on: rule of thumb; 2 % of the time.
MIN_ONE_WAY_CORRELATION = 0.96
# Torque that one standard deviation of a flat parameter causes, relative to the joint's torque RMS. Chosen on:
# reasoning; so large that the data decide alone.
FLAT_SCALE = 1e3
OFFSET, COULOMB = FRICTION_PARAMETERS["offset"], FRICTION_PARAMETERS["coulomb"]
# Which of mass, centre and second moments each axis changes. Fixed by: the order of the parameters.
AXIS_COMPONENTS = (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)


def make_description_prior(
    base: BaseParameters,
    equations: NormalEquations,
    reference: PlausibleReference,
    described: PerParameter,
) -> Prior:
    """Return the prior around a description.

    ``reference``: plausible bodies of the description, the scale of every link. ``described``: standard parameters of
    the description, the means. Without any inertia in the description, links are flat too.
    """
    blocks = [*_make_link_blocks(base, reference), *_make_drive_blocks(base, equations)]
    index = {name: k for k, name in enumerate(base.selected)}
    count = sum(len(block.factors) for block in blocks)
    hyper = tuple(dict.fromkeys(each for block in blocks for factors in block.factors for each in factors))
    axes, design = np.zeros((len(index), count)), np.zeros((count, len(hyper)))
    offset, families, first = np.zeros(count), [], 0
    for block in blocks:
        columns = np.arange(first, first + len(block.factors))
        axes[np.ix_(np.array([index[name] for name in block.names]), columns)] = block.axes
        offset[columns] = block.offset
        families += [block.family] * len(columns)
        for column, factors in zip(columns, block.factors, strict=True):
            design[column, [hyper.index(each) for each in factors]] = 1.0
        first += len(columns)
    places = [base.robot.parameter_names.index(name) for name in base.selected]
    return Prior(base.selected, described[places], axes, tuple(families), hyper, design, offset)


def describe_like(robot: Robot, other: Robot) -> Robot:
    """Return the robot with the parameters of another description; parameters that only it has keep their values."""
    values = dict(zip(other.parameter_names, other.theta.tolist(), strict=True))
    pairs = zip(robot.parameter_names, robot.theta.tolist(), strict=True)
    return robot if other is robot else with_theta(robot, np.array([values.get(name, own) for name, own in pairs]))


@dataclass(frozen=True, eq=False)
class _Block:
    """Parameters that are independent of all others: their axes, and for each axis the factors of its scale."""

    names: tuple[str, ...]
    axes: Float[np.ndarray, "own axes"]
    family: Family
    factors: tuple[tuple[Hyperparameter, ...], ...]
    offset: float = 0.0


def _make_link_blocks(base: BaseParameters, reference: PlausibleReference) -> Iterator[_Block]:
    selected = set(base.selected)
    unknown_loads = _find_unknown_loads(base.robot)
    designed = [float(P0[3, 3]) for link, P0 in reference.pseudo.items() if link not in reference.placeholders]
    for link, P0 in reference.pseudo.items():
        names = tuple(parameter_name(link, symbol) for symbol in LINK_PARAMETERS)
        chosen = np.array([name in selected for name in names])
        if not chosen.any():
            continue
        family = Family.LINK
        if link in unknown_loads:
            family = Family.ADDED_LOAD
            own: tuple[Hyperparameter, ...] = (Hyperparameter(f"load {link}", LOAD.mean, LOAD.std),)
        elif link in reference.placeholders:
            own = (PLACEHOLDERS, Hyperparameter(f"link {link}", 0.0, LINK_STD, tail=LINK_TAIL))
        else:
            largest = math.log(max(designed) / (TYPICAL_SCALE * float(P0[3, 3])))
            own = (DESCRIPTION, Hyperparameter(f"link {link}", 0.0, LINK_STD, maximum=largest, tail=LINK_TAIL))
        middle = reference.middles[link] if link in reference.placeholders else 0.0
        axes, components = compute_body_axes(P0, chosen, middle)
        factors = tuple((*own, *each) for each in components)
        offset = 0.0
        if not reference.has_inertias:
            factors, offset, family = ((),) * len(factors), math.log(FLAT_SCALE), Family.FLAT
        yield _Block(tuple(name for name in names if name in selected), axes, family, factors, offset)


def compute_body_axes(
    P0: Matrix4, chosen: Bool[np.ndarray, "10"], min_lever: float = 0.0
) -> tuple[Float[np.ndarray, "own axes"], tuple[tuple[Hyperparameter, ...], ...]]:
    """Return axes of the chosen parameters of a link, one relative change of the body each, and their components.

    ``min_lever``: smallest |c| of the module docstring, in m. If only some of the ten parameters are chosen, the others
    are known; then components cannot be separated.
    """
    axes = np.stack([Inertia.from_pseudo(change).vector for change in _list_body_changes(P0, min_lever)], axis=1)
    if chosen.all():
        return axes, tuple((COMPONENTS[k],) for k in AXIS_COMPONENTS)
    precision = np.linalg.inv(axes @ axes.T)[np.ix_(chosen, chosen)]
    return np.linalg.cholesky(np.linalg.inv(precision)), ((),) * int(chosen.sum())


def _list_body_changes(P0: Matrix4, min_lever: float) -> Iterator[Matrix4]:
    """Yield the changes of the pseudo-inertia by one unit of each coordinate, in the order of ``AXIS_COMPONENTS``."""
    mass = P0[3, 3]
    point = P0[3] / mass  # (c, 1)
    center = point[:3]
    about_center = P0[:3, :3] - mass * np.outer(center, center)
    lever = max(float(center @ center), min_lever**2)  # |c|²
    yield mass * np.outer(point, point)
    for column in np.linalg.cholesky(about_center / mass + lever * np.eye(3)).T:
        shift = np.append(column, 0.0)
        yield mass * (np.outer(shift, point) + np.outer(point, shift)) / np.sqrt(2.0)
    for moments in _list_second_moment_changes(about_center, mass * lever):
        change = np.zeros((4, 4))
        change[:3, :3] = moments
        yield change


def _list_second_moment_changes(about_center: Matrix3, lever_moment: float) -> Iterator[Matrix3]:
    """Yield six changes of the second moments, which together have the variance of S_c^½ Z S_c^½ + τ m |c|² Z' / √2.

    ``lever_moment`` is m |c|².
    """
    rows, columns = np.tril_indices(3)
    lever = math.sqrt(TYPICAL_SCALE * lever_moment / math.sqrt(2.0)) * np.eye(3)
    covariance = np.zeros((6, 6))
    for factor in (np.linalg.cholesky(about_center), lever):
        for i, j in zip(rows, columns, strict=True):
            pair = np.outer(factor[:, i], factor[:, j])
            change = (pair if i == j else (pair + pair.T) / np.sqrt(2.0))[rows, columns]
            covariance += np.outer(change, change)
    for column in np.linalg.cholesky(covariance).T:
        moments = np.zeros((3, 3))
        moments[rows, columns] = moments[columns, rows] = column
        yield moments


def _make_drive_blocks(base: BaseParameters, equations: NormalEquations) -> Iterator[_Block]:
    """Yield one block for each selected parameter that is not of a link, in units of torque."""
    units = compute_torque_units(base, equations)
    small_offsets = {parameter_name(drive, OFFSET) for drive in find_one_way_drives(base, equations)}
    link_parameters = {
        parameter_name(link.name, symbol) for link in base.robot.merged.links for symbol in LINK_PARAMETERS
    }
    for name in base.selected:
        if name in link_parameters:
            continue
        family = FAMILY_OF_SYMBOL.get(name.rpartition(".")[2], Family.FLAT)
        factors: tuple[Hyperparameter, ...] = (FAMILIES[family],) if family in FAMILIES else ()
        unit = 1.0 if family is Family.LOAD else units[name]
        if family is Family.ROTOR:
            drive = name.rpartition(".")[0]
            unit = estimate_rotor_inertia(base, equations, drive)
            factors = (*factors, Hyperparameter(f"rotor {drive}", 0.0, ROTOR_STD))
        offset = 0.0 if factors else math.log(FLAT_SCALE)
        if name in small_offsets:
            factors, offset = (), math.log(TYPICAL_SHARE)
        yield _Block((name,), np.array([[unit]]), family, (factors,), offset)


def find_one_way_drives(base: BaseParameters, equations: NormalEquations) -> tuple[str, ...]:
    """Return the drives whose offset and Coulomb friction are estimated although they move in one direction only."""
    places = {name: k for k, name in enumerate(base.robot.parameter_names)}
    drives = []
    for drive in base.robot.moving:
        pair = [parameter_name(drive, symbol) for symbol in (OFFSET, COULOMB)]
        if not set(pair) <= set(base.selected):
            continue
        columns = base.K[:, [places[name] for name in pair]]
        gram = sum(columns[joint.columns].T @ joint.gram @ columns[joint.columns] for joint in equations.joints)
        size = math.sqrt(gram[0, 0] * gram[1, 1])
        if size > 0.0 and abs(gram[0, 1]) >= MIN_ONE_WAY_CORRELATION * size:
            drives.append(drive)
    return tuple(drives)


def compute_torque_units(base: BaseParameters, equations: NormalEquations) -> dict[str, float]:
    """Return, for every selected parameter, the value that causes a joint's whole torque RMS; 1 if it has no effect."""
    units = {name: _find_main_joint(base, equations, name)[0] for name in base.selected}
    return {name: ratio**-0.5 if ratio > 0.0 else 1.0 for name, ratio in units.items()}


def estimate_rotor_inertia(base: BaseParameters, equations: NormalEquations, drive: str) -> float:
    """Return the usual size of the rotor inertia of a drive, at the joint; 1 if it has no effect."""
    ratio, rms = _find_main_joint(base, equations, parameter_name(drive, "Ia"))
    if not ratio > 0.0:
        return 1.0
    limits = {joint.name: joint.limits.effort for joint in base.robot.movable}
    limits |= {motor.name: motor.limits.effort for motor in base.robot.motors}
    limit = limits.get(drive, math.inf)
    peak = limit if math.isfinite(limit) else PEAK_TORQUE_RATIO * rms
    lowest, highest = PEAK_TORQUE_RANGE
    return min(max(peak, lowest * rms), highest * rms) / ROTOR_ACCELERATION


def _find_main_joint(base: BaseParameters, equations: NormalEquations, name: str) -> tuple[float, float]:
    """Return for the joint at which a parameter causes most, relative to the joint's torque: its share for the value 1.

    The share is one of squares; the second number is the torque RMS of the joint. Both are 0 without any effect.
    """
    column = base.K[:, base.robot.parameter_names.index(name)]
    largest = 0.0, 0.0
    for joint, squares in zip(equations.joints, equations.reference_squares.tolist(), strict=True):
        if squares > 0.0:
            share = float(column[joint.columns] @ joint.gram @ column[joint.columns]) / squares
            largest = max(largest, (share, math.sqrt(squares / joint.count)))
    return largest if largest[0] > np.finfo(float).tiny ** 0.5 else (0.0, 0.0)


def _find_unknown_loads(robot: Robot) -> set[str]:
    """Return the loads without mass in the description."""
    return {link.name for link in robot.merged.links if link.load and link.inertia.massless}


# The prior from an earlier model: its parameters, and their covariance times a factor that the data choose.
#
# The model file contains base parameters with their covariance, which contains the prior of the earlier identification.
# In directions that no base parameter contains, the width is that of the prior around the bodies of the model. A factor
# for all widths is the only hyperparameter: it is one if the robot has not changed, and large if it has; never less
# than one.


CHANGE = Hyperparameter("change since the earlier model", 0.0, 1.0, minimum=0.0)
# Variance that is added to that of a standardized parameter. Chosen on: reasoning; it keeps rounding errors from
# making the covariance indefinite.
ROUNDING_VARIANCE = 1e-12


def make_model_prior(base: BaseParameters, equations: NormalEquations, model: EarlierModel) -> Prior:
    """Return the prior around an earlier model."""
    described = describe_like(base.robot, model.base.robot)
    wide = make_description_prior(base, equations, make_plausible_reference(described), described.theta)
    axes = wide.axes * wide.compute_scales(np.array([each.mean for each in wide.hyper]))
    columns, beta = _select_columns(base, model)
    effect = columns @ axes
    B = axes @ invert_rows(effect)
    rest = axes - B @ effect
    covariance = rest @ rest.T + B @ _fill_unknown_variances(model, effect) @ B.T
    std = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(std, std) + ROUNDING_VARIANCE * np.eye(len(std))
    count = len(std)
    return Prior(
        names=wide.names,
        mean=wide.mean + B @ (beta - columns @ wide.mean),
        axes=std[:, None] * np.linalg.cholesky(correlation),
        families=(Family.MODEL,) * count,
        hyper=(CHANGE,),
        design=np.ones((count, 1)),
        offset=np.zeros(count),
    )


def _fill_unknown_variances(model: EarlierModel, effect: Float[np.ndarray, "base coordinates"]) -> BaseByBase:
    """Return the covariance of the model; a variance of zero, "not determined", becomes that of the prior."""
    unknown = np.diag(model.covariance) == 0.0
    return np.asarray(model.covariance + np.diag(np.where(unknown, np.sum(effect**2, axis=1), 0.0)))


def _select_columns(base: BaseParameters, model: EarlierModel) -> tuple[BaseBySelected, PerBase]:
    """Return K of the earlier model for the parameters that are selected now, and beta without all others.

    Parameters that are not selected now keep the values of the robot; those that it does not have are zero.
    """
    values = dict(zip(base.robot.parameter_names, base.robot.theta.tolist(), strict=True))
    selected = {name: column for column, name in enumerate(base.selected)}
    K, beta = np.zeros((len(model.base), len(selected))), model.beta.copy()
    for place, name in enumerate(model.base.robot.parameter_names):
        if name in selected:
            K[:, selected[name]] = model.base.K[:, place]
        else:
            beta -= model.base.K[:, place] * values.get(name, 0.0)
    return K, beta
