"""Compare models of the same robot, or of one robot over time: parameters, friction, and torques on a log.

A difference of parameters is stated in standard deviations, ``(b - a) / sqrt(std_a^2 + std_b^2)`` with a of the first
model. This treats the estimates as independent, which is cautious for models that share logs or a prior. Parameters are
compared only if they have the same name and are the same combination of standard parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ytheta.arguments import check_path
from ytheta.display import Reported
from ytheta.errors import InputError
from ytheta.exporting.bodies import list_joint_differences
from ytheta.exporting.source import refuse_newer_file
from ytheta.identification.model_file import Model, read_identification_table, read_model
from ytheta.identification.predict import Prediction, predict
from ytheta.logs.reading.read import GainInput, LogInput, LogReadingOptions, MappingInput, RowsInput
from ytheta.robot.parameters import FRICTION_PARAMETERS
from ytheta.robot.parts import Drive, Joint, compute_friction
from ytheta.robot.robot import Robot
from ytheta.shapes import Bool, Float, PerJoint

# Smallest difference of a parameter of two models that is called notable, in standard deviations. Chosen on: rule of
# thumb; 0.3 % of normally distributed differences are larger by chance.
MIN_NOTABLE_DIFFERENCE = 3.0


@dataclass(frozen=True)
class ParameterComparison:
    """One base parameter.

    Attributes
    ----------
    name         name of the parameter
    values       its value in each model; None if a model does not have it
    std          its standard deviation in each model
    differences  difference of each model from the first one, in standard deviations; None if it cannot be compared
    """

    name: str
    values: tuple[float | None, ...]
    std: tuple[float | None, ...]
    differences: tuple[float | None, ...]

    @property
    def largest_difference(self) -> float:
        """The largest magnitude of the differences; 0 if there are none."""
        return max((abs(each) for each in self.differences if each is not None), default=0.0)


@dataclass(frozen=True)
class FrictionComparison:
    """One friction parameter of one joint or motor, with its value in each model; None if a model does not have it."""

    joint: str
    kind: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Models of one robot, side by side.

    Attributes
    ----------
    labels       short names of the models, from their files
    models       the models
    parameters   the base parameters of all models
    friction     the friction of the bodies, by joint and kind
    friction_curves
                 the friction of each drive as a function of its speed
    predictions  the predicted torques of a log by each model; empty without a log
    """

    labels: tuple[str, ...]
    models: tuple[Model, ...]
    parameters: tuple[ParameterComparison, ...]
    friction: tuple[FrictionComparison, ...]
    predictions: tuple[Prediction, ...] = ()

    @property
    def notable(self) -> tuple[ParameterComparison, ...]:
        """The parameters that differ by more than 3 standard deviations, largest difference first."""
        rows = (row for row in self.parameters if row.largest_difference > MIN_NOTABLE_DIFFERENCE)
        return tuple(sorted(rows, key=lambda row: -row.largest_difference))

    @property
    def friction_curves(self) -> tuple[FrictionCurves, ...]:
        """The friction of each drive as a function of its speed, without offset and at zero load."""
        return tuple(compute_friction_curves(self.models, self.predictions))

    @property
    def torque_differences(self) -> tuple[PerJoint, ...]:
        """The root mean square difference of each model's predicted torques from those of the first, per joint."""
        return tuple(
            np.sqrt(((each.predicted - self.predictions[0].predicted) ** 2).mean(axis=0)) for each in self.predictions
        )

    @property
    def left_out(self) -> Bool[np.ndarray, "shown joints"] | None:
        """Which samples of the errors' traces are left out of the errors of a model, because the joint rests.

        None without measured torques.
        """
        errors = [each.errors for each in self.predictions if each.errors is not None]
        return np.any([each.trace.left_out for each in errors], axis=0) if errors else None

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.labels)}: {len(self.parameters)} parameters)"


def compare(
    models: Sequence[str | Path],
    *,
    log: LogInput | None = None,
    mapping: MappingInput = None,
    degrees: bool = False,
    rows: RowsInput = None,
    rate: float | None = None,
    gain: GainInput = None,
    topic: str | None = None,
    report_stage: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare two or more model files of the same robot; with a log, also the torques that they predict.

    The log is read with ``mapping``, ``degrees``, ``rows``, ``rate``, ``gain`` and ``topic`` as by ``read_log``.
    """
    if isinstance(models, str | Path) or len(models) < 2:
        raise InputError("a comparison needs two or more model files; give a list of their paths")
    options = LogReadingOptions(degrees=degrees, rows=rows, rate=rate, gain=gain, topic=topic)
    if log is None:
        options.refuse_without_log(mapping)
    read = tuple(_read_model(path) for path in models)
    _check_same_robot(read, models)
    predictions = () if log is None else _predict_all(models, log, mapping, options, report_stage)
    return Comparison(_make_labels(models), read, _compare_parameters(read), _compare_friction(read), predictions)


def _read_model(path: str | Path) -> Model:
    """Read a model; InputError if the file is something else, or comes from a newer version of ytheta."""
    path = check_path(path, "the model")
    if not path.exists():
        raise InputError(f"{path} does not exist; give the path of a model that identify wrote")
    if read_identification_table(path) is None:
        raise InputError(f"{path} is not an identified model; give a file that identify wrote")
    refuse_newer_file(path)
    return read_model(path)


def _check_same_robot(models: Sequence[Model], paths: Sequence[str | Path]) -> None:
    """Raise InputError unless all models have the same joints at the same places; loads may differ."""
    first = models[0].robot
    for model, path in zip(models, paths, strict=True):
        if model.robot.actuated != first.actuated:
            raise InputError(
                f"{path} is a model of other joints ({', '.join(model.robot.actuated)}) than {paths[0]} "
                f"({', '.join(first.actuated)}); compare models of the same robot"
            )
        for difference in list_differences(model.robot, first):
            raise InputError(
                f"{path} is a model of another robot than {paths[0]}: {difference}; compare models of the same robot"
            )


def list_differences(robot: Robot, first: Robot) -> Iterator[str]:
    """Yield how the geometry of a robot differs from that of the first one."""
    robot, first = _make_comparable(robot), _make_comparable(first)
    joints, expected = _list_joints(robot), _list_joints(first)
    for name in dict.fromkeys((*expected, *joints)):
        if name not in joints:
            yield f"it has no joint {name!r}"
        elif name not in expected:
            yield f"only it has a joint {name!r}"
        else:
            for what in list_joint_differences(joints[name], robot, expected[name], first):
                yield f"its joint {name!r} has another {what}"
    couplings, expected_couplings = ({each.joint: each for each in x.couplings} for x in (robot, first))
    for name in dict.fromkeys((*expected_couplings, *couplings)):
        if couplings.get(name) != expected_couplings.get(name):
            yield f"its joint {name!r} has another coupling"


def _make_comparable(robot: Robot) -> Robot:
    """Return a robot without fixed joints and, if all of them are known, with numbers for lengths and angles."""
    return (robot if robot.unset_symbols else robot.numeric).merged


def _list_joints(robot: Robot) -> dict[str, Joint]:
    """Return the movable joints and the cut joints of loops, by name."""
    return {joint.name: joint for joint in (*robot.movable, *(loop.joint for loop in robot.loops))}


def _make_labels(paths: Sequence[str | Path]) -> tuple[str, ...]:
    names = [Path(path).name for path in paths]
    return tuple(name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True))


def _compare_parameters(models: Sequence[Model]) -> tuple[ParameterComparison, ...]:
    names = dict.fromkeys(name for model in models for name in model.names)
    return tuple(_compare_parameter(name, models) for name in names)


def _compare_parameter(name: str, models: Sequence[Model]) -> ParameterComparison:
    values: list[float | None] = []
    std: list[float | None] = []
    expressions: list[object] = []
    for model in models:
        k = model.names.index(name) if name in model.names else None
        values.append(None if k is None else float(model.beta[k]))
        std.append(None if k is None else float(np.sqrt(model.covariance[k, k])))
        expressions.append(None if k is None else model.table["parameters"][k].get("expression"))
    differences = (
        _measure_difference(values[0], value, std[0], each) if expression == expressions[0] else None
        for value, each, expression in zip(values, std, expressions, strict=True)
    )
    return ParameterComparison(name, tuple(values), tuple(std), tuple(differences))


def _measure_difference(
    first: float | None, value: float | None, first_std: float | None, std: float | None
) -> float | None:
    if first is None or value is None or first_std is None or std is None:
        return None
    if first == value:
        return 0.0
    scale = math.hypot(first_std, std)
    return (value - first) / scale if scale > 0.0 and math.isfinite(scale) else None


def _compare_friction(models: Sequence[Model]) -> tuple[FrictionComparison, ...]:
    drives = [dict(model.robot.drives) for model in models]
    rows: list[FrictionComparison] = []
    for joint in dict.fromkeys(name for each in drives for name in each):
        for kind in FRICTION_PARAMETERS:
            values = tuple(getattr(each[joint], kind) if joint in each else None for each in drives)
            if any(values):
                rows.append(FrictionComparison(joint, kind, values))
    return tuple(rows)


def _predict_all(
    models: Sequence[str | Path],
    log: LogInput,
    mapping: MappingInput,
    options: LogReadingOptions,
    report_stage: Callable[[str], None] | None,
) -> tuple[Prediction, ...]:
    """Return the torques that each model predicts; the log is prepared for all of them as for the first."""
    predictions: list[Prediction] = []
    for model in models:
        prediction = predict(
            model,
            log,
            mapping=mapping,
            degrees=options.degrees,
            rows=options.rows,
            rate=options.rate,
            gain=options.gain,
            topic=options.topic,
            settings=predictions[0].preparation.settings if predictions else None,
            report_stage=report_stage,
        )
        predictions.append(prediction)
    return tuple(predictions)


# Friction curves of several models of one robot, over the same speeds.


POINTS = 200  # even, so that no point is at speed zero, where friction jumps
# Highest speed of a friction curve if neither log nor models nor description tell a speed, in rad/s or m/s.
# Chosen on: rule of thumb.
DEFAULT_SPEED = 1.0


@dataclass(frozen=True, eq=False)
class FrictionCurves:
    """Friction of one drive in each model, without offset and at zero load; None if a model does not have the drive."""

    name: str
    speeds: Float[np.ndarray, " points"]
    friction: tuple[Float[np.ndarray, " points"] | None, ...]


def compute_friction_curves(models: Sequence[Model], predictions: Sequence[Prediction]) -> Iterator[FrictionCurves]:
    """Yield the curves of every drive that has friction in a model.

    They reach to the highest speed of the log, if there is one; otherwise to the speed up to which a model was fitted,
    to the limit of the description, or to 1 rad/s or m/s.
    """
    drives = [dict(model.robot.drives) for model in models]
    recorded = _find_recorded_speeds(predictions)
    for name in dict.fromkeys(name for each in drives for name in each):
        present = [each.get(name) for each in drives]
        if not any(drive is not None and _has_curve(drive) for drive in present):
            continue
        speed = recorded.get(name) or _find_described_speed(models, name, present)
        speeds = np.linspace(-speed, speed, POINTS)
        curves = tuple(None if drive is None else compute_friction(drive, speeds) for drive in present)
        yield FrictionCurves(name, speeds, curves)


def _has_curve(drive: Drive) -> bool:
    return any((drive.viscous, drive.coulomb, drive.root))


def _find_recorded_speeds(predictions: Sequence[Prediction]) -> dict[str, float]:
    errors = [each.errors for each in predictions if each.errors is not None]
    if not errors:
        return {}
    return dict(zip(predictions[0].robot.actuated, errors[0].motion_range.speed.tolist(), strict=True))


def _find_described_speed(models: Sequence[Model], name: str, drives: Sequence[Drive | None]) -> float:
    fitted = max((drive.friction_speed for drive in drives if drive is not None), default=0.0)
    if fitted:
        return fitted
    robot = models[0].robot
    limits = dict(zip(robot.actuated, robot.actuated_limits, strict=True))
    limit = limits[name].velocity if name in limits else math.inf
    return limit if math.isfinite(limit) and limit > 0.0 else DEFAULT_SPEED
