"""Times of kernels and of the same functions of peers, for the same states and on one core.

Values are compared before times are measured: a benchmark of wrong results is refused. The robot is taken without
friction and rotors, which the peers do not have. Each time is the shortest of several repetitions, per sample. ytheta
computes all samples in one call, the peers one sample per call from Python.
"""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import ytheta
from ytheta.arguments import check_count
from ytheta.conventions import STANDARD_GRAVITY
from ytheta.display import Displayed
from ytheta.dynamics.kernels import forward_dynamics, inverse_dynamics, mass_matrix, regressor
from ytheta.engine.local import count_processors
from ytheta.errors import InputError, MissingExtraError
from ytheta.exporting.export import export
from ytheta.robot.frame import IDENTITY
from ytheta.robot.mjcf_writer import to_mjcf
from ytheta.robot.parts import Drive
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot, check_is_robot

ROBOT, SAMPLES, REPEATS = "ur10", 1024, 7
CHECKED_SAMPLES = 16
# Largest difference between a peer's values and those of ytheta, relative to the largest value, at which times are
# compared. Chosen on: reasoning; files that peers read have fewer digits.
MAX_RELATIVE_DIFFERENCE = 1e-6
MAX_POSITION = 6.2  # rad; limits of joints without limits, so that peers do not describe them by sine and cosine


@dataclass(frozen=True)
class BenchmarkRow:
    """One function: the times of ytheta and of a peer per sample, in s."""

    name: str
    ytheta: float
    peer: float
    peer_name: str

    @property
    def ratio(self) -> float:
        """How many times as long the peer takes."""
        return self.peer / self.ytheta


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Displayed):
    """Times beside those of peers: ``rows``, the robot's name, samples, repetitions and facts about the machine."""

    robot: str
    samples: int
    repeats: int
    rows: tuple[BenchmarkRow, ...]
    machine: dict[str, Any]

    def __repr__(self) -> str:
        return f"Benchmark({len(self.rows)} comparisons with {self.robot!r})"


def bench(
    robot: str | Robot = ROBOT,
    *,
    samples: int = SAMPLES,
    repeats: int = REPEATS,
    report_stage: Callable[[str], None] | None = None,
) -> Benchmark:
    """Measure the speed of inverse and forward dynamics, mass matrix and regressor beside that of installed peers.

    ``robot``: a catalog name, a file or a Robot: a tree on a fixed base. ``samples``: number of states of one call.
    ``repeats``: repetitions, of which the shortest time counts.
    """
    samples = check_count("samples", samples, "a number of states, at least 16", minimum=CHECKED_SAMPLES)
    repeats = check_count("repeats", repeats, "a number of repetitions, at least 1")
    report = report_stage or (lambda _: None)
    if isinstance(robot, str):
        robot = load(robot)
    check_is_robot(robot)
    plain = _simplify(robot)
    peers = list(list_peers(plain))
    if not peers:
        raise MissingExtraError("neither Pinocchio nor MuJoCo is installed; run: pip install pin mujoco")
    rng = np.random.default_rng(0)
    rows: list[BenchmarkRow] = []
    kernels = _list_kernels(plain)
    states = rng.uniform(-1.0, 1.0, (3, samples, len(plain.movable)))
    for name, kernel in kernels.items():
        report(f"measuring {name}")
        seconds = measure_best(partial(kernel, *states), repeats) / samples
        values = kernels["inverse dynamics" if name == "regressor" else name](*states[:, :CHECKED_SAMPLES])
        for peer in peers:
            function = peer.functions.get(name)
            if function is None:
                continue
            peer_states = np.ascontiguousarray(states[:, :, peer.order])
            check_agreement(name, peer, peer_states, values)
            peer_seconds = measure_best(partial(_run_all, function, *peer_states), repeats) / samples
            rows.append(BenchmarkRow(name, seconds, peer_seconds, f"{peer.name} {function.label}"))
    return Benchmark(plain.name, samples, repeats, tuple(rows), describe_machine())


def measure_best(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several repetitions, in s; the first one is not counted, since it compiles."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _simplify(robot: Robot) -> Robot:
    """Return the robot without what peers do not have; refuse robots that peers describe in another way."""
    for parts, what in (
        (robot.loops, "closed loops"),
        (robot.floating, "a floating base"),
        (robot.sensor_coordinates, "force-torque sensors"),
        (robot.couplings or robot.motors, "couplings or motors"),
        (robot.forces, "declared forces"),
        (robot.unset_symbols, "lengths or angles without values"),
    ):
        if parts:
            raise InputError(
                f"robot {robot.name!r} has {what}, which bench does not compare; choose another, such as ur10"
            )
    if not robot.movable:
        raise InputError(f"robot {robot.name!r} has no joints that move; choose another, such as ur10")
    merged = robot.numeric.merged.with_drives(lambda _, __: Drive())

    def limit(bound: float) -> float:
        return float(np.clip(bound, -MAX_POSITION, MAX_POSITION))

    joints = tuple(
        replace(each, limits=replace(each.limits, lower=limit(each.limits.lower), upper=limit(each.limits.upper)))
        for each in merged.joints
    )
    return replace(merged, joints=joints, actuated=tuple(joint.name for joint in merged.movable))


def _list_kernels(robot: Robot) -> dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]]:
    """Return the kernels by name; ``last`` are accelerations, or torques of forward dynamics."""
    inverse, forward, matrix = (make(robot) for make in (inverse_dynamics, forward_dynamics, mass_matrix))
    of_parameters = regressor(robot)
    return {
        "inverse dynamics": lambda q, qd, last: inverse(q, qd, last, threads=1),
        "forward dynamics": lambda q, qd, last: forward(q, qd, last, threads=1),
        "mass matrix": lambda q, qd, last: matrix(q, threads=1),  # noqa: ARG005
        "regressor": lambda q, qd, last: of_parameters(q, qd, last, threads=1),
    }


def _run_all(function: PeerFunction, q: np.ndarray, qd: np.ndarray, last: np.ndarray) -> None:
    for state in zip(q, qd, last, strict=True):
        function.run(*state)


def check_agreement(name: str, peer: Peer, states: np.ndarray, values: np.ndarray) -> None:
    """Raise InputError if a peer computes other values for the first states; ``values`` are those of ytheta."""
    function, peer_values = peer.functions[name], np.empty_like(values)
    for k in range(len(values)):
        function.run(*states[:, k])
        peer_values[k] = function.read()
    difference = float(abs(peer_values - values).max() / max(abs(values).max(), np.finfo(float).tiny))
    if not difference <= MAX_RELATIVE_DIFFERENCE:
        raise InputError(
            f"{name}: the values of {peer.name} differ by {difference:.2g} of the largest, so that the times cannot be "
            "compared; choose another robot"
        )


# Peers: Pinocchio and MuJoCo with the same robot, called from Python once per sample, as their users do.


@dataclass(frozen=True, eq=False)
class PeerFunction:
    """A function of a peer.

    Attributes
    ----------
    label  what the peer calls it
    run    computes one sample; this is what is timed
    read   returns the values of the last sample in the order of the robot; of a regressor, its torques
    """

    label: str
    run: Callable[[np.ndarray, np.ndarray, np.ndarray], object]
    read: Callable[[], np.ndarray]


@dataclass(frozen=True, eq=False)
class Peer:
    """A library with a robot: ``order`` are the robot's joints in the order of the peer, ``functions`` by name."""

    name: str
    order: np.ndarray
    functions: Mapping[str, PeerFunction]


def list_peers(robot: Robot) -> Iterator[Peer]:
    """Yield the installed peers with this robot, which has neither friction nor rotors."""
    if find_spec("pinocchio") is not None:
        yield _make_pinocchio(robot)
    if find_spec("mujoco") is not None:
        yield _make_mujoco(robot)


def _make_pinocchio(robot: Robot) -> Peer:
    import pinocchio as pin

    # A file whose base is upright: that of a robot with another gravity would be turned instead.
    upright = replace(robot, gravity=STANDARD_GRAVITY, mounting=IDENTITY)
    with tempfile.TemporaryDirectory() as folder:
        (file,) = export(upright, to="urdf", path=Path(folder) / "robot.urdf", force=True)
        model = pin.buildModelFromUrdf(str(file))
    model.gravity = pin.Motion(np.array(robot.gravity_in_base), np.zeros(3))
    data = model.createData()
    places = np.array([model.joints[model.getJointId(joint.name)].idx_v for joint in robot.movable])
    theta = np.concatenate([model.inertias[k].toDynamicParameters() for k in range(1, model.njoints)])
    results: dict[str, np.ndarray] = {}

    def keep(name: str, values: np.ndarray) -> None:
        results[name] = values

    def read_mass_matrix() -> np.ndarray:
        upper = np.triu(data.M)
        return (upper + np.triu(upper, 1).T)[np.ix_(places, places)]

    functions = {
        "inverse dynamics": PeerFunction(
            "rnea", lambda q, qd, last: pin.rnea(model, data, q, qd, last), lambda: data.tau[places]
        ),
        "forward dynamics": PeerFunction(
            "aba", lambda q, qd, last: pin.aba(model, data, q, qd, last), lambda: data.ddq[places]
        ),
        "mass matrix": PeerFunction("crba", lambda q, qd, last: pin.crba(model, data, q), read_mass_matrix),  # noqa: ARG005
        "regressor": PeerFunction(
            "computeJointTorqueRegressor",
            lambda q, qd, last: keep("Y", pin.computeJointTorqueRegressor(model, data, q, qd, last)),
            lambda: (results["Y"] @ theta)[places],
        ),
    }
    return Peer("Pinocchio", np.argsort(places), MappingProxyType(functions))


def _make_mujoco(robot: Robot) -> Peer:
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_string(to_mjcf(robot))
    except ValueError as error:  # such as links that are point masses
        reason = " ".join(str(error).split())
        raise InputError(f"MuJoCo refuses robot {robot.name!r} ({reason}); choose another, such as ur10") from None
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # limits of joints and contacts are not dynamics
    data = mujoco.MjData(model)
    places = np.array([int(model.joint(joint.name).dofadr[0]) for joint in robot.movable])

    def run_inverse(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)

    def run_forward(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(model, data)

    def run_mass_matrix(q: np.ndarray, qd: np.ndarray, last: np.ndarray) -> None:
        del qd, last
        data.qpos[:] = q
        mujoco.mj_fwdPosition(model, data)

    def read_mass_matrix() -> np.ndarray:
        matrix = np.zeros((model.nv, model.nv))
        for column, unit in zip(matrix, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        return matrix[np.ix_(places, places)]

    functions = {
        "inverse dynamics": PeerFunction("mj_inverse", run_inverse, lambda: data.qfrc_inverse[places]),
        "forward dynamics": PeerFunction("mj_forward", run_forward, lambda: data.qacc[places]),
        "mass matrix": PeerFunction("mj_fwdPosition", run_mass_matrix, read_mass_matrix),
    }
    return Peer("MuJoCo", np.argsort(places), MappingProxyType(functions))


# Facts about the machine on which times were measured.


LIBRARIES = {"pinocchio": "pin", "mujoco": "mujoco", "numpy": "numpy", "casadi": "casadi"}  # and their packages


def describe_machine() -> dict[str, object]:
    """Return processor, number of usable processors, system and versions."""
    versions = {"python": platform.python_version(), "ytheta": ytheta.__version__}
    for name, package in LIBRARIES.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "cpu": _find_processor(),
        "processors": count_processors(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions,
    }


def _find_processor() -> str:
    """Return the name of the processor; Linux does not tell it through ``platform``."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
