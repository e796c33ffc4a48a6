"""Regressors, inverse and forward dynamics, compared with Pinocchio called from Python, on one core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import ytheta
from benchmarks.clock import Row, measure_best
from benchmarks.reading import find_example_urdf
from ytheta.dynamics.kernels import AnyKernel

FEW_SAMPLES = 100  # calls from Python should not dominate even for so few samples
SAMPLES = 1024  # block size of the estimators
BATCH = 16 * SAMPLES  # samples; also measured, because calls from Python cost about 10 ns per sample with 1024 samples
# For each robot: the name in the catalog, the file for the peer, and the joints of that file outside the arm.
ROBOTS = {
    "UR10": ("ur10", "ur10_robot.urdf", ()),
    "Panda": ("panda", "panda.urdf", ("panda_finger_joint1", "panda_finger_joint2")),
}

START = "import numpy as np, ytheta; r = ytheta.load('ur10'); x = np.zeros((1, 6)); ytheta.regressor(r)(x, x, x)"


def measure_rows() -> list[Row]:
    robot_rows = [row for name, robot in ROBOTS.items() for row in _measure_robot(name, *robot)]
    return [*robot_rows, *_measure_start()]


def _measure_robot(name: str, catalog_name: str, file: str, locked: tuple[str, ...]) -> list[Row]:
    robot, whole = ytheta.load(catalog_name), pin.buildModelFromUrdf(str(find_example_urdf(file)))
    model = pin.buildReducedModel(whole, [whole.getJointId(joint) for joint in locked], pin.neutral(whole))
    data = model.createData()
    q, qd, last = np.random.default_rng(0).uniform(-1.0, 1.0, (3, SAMPLES, len(robot.coordinates)))
    pq, pqd, plast = np.random.default_rng(0).uniform(-1.0, 1.0, (3, SAMPLES, model.nv))

    def measure_peer(call: Callable[..., object]) -> float:
        """Return the seconds per sample of a Pinocchio algorithm that is called once per sample."""

        def all_samples() -> None:
            for k in range(SAMPLES):
                call(model, data, pq[k], pqd[k], plast[k])

        return measure_best(all_samples) / SAMPLES

    base = ytheta.regressor(robot, ytheta.base_parameters(robot))
    inverse, forward = ytheta.inverse_dynamics(robot), ytheta.forward_dynamics(robot)
    block = [q, qd, last]
    batches = [[x[:FEW_SAMPLES].copy() for x in block], block, [np.tile(x, (BATCH // SAMPLES, 1)) for x in block]]
    regressor, rnea, aba = map(measure_peer, (pin.computeJointTorqueRegressor, pin.rnea, pin.aba))

    def iterate_blocks() -> None:
        for _ in base.blocks(q, qd, last):
            pass

    def measure(work: Callable[[], object]) -> float:
        return measure_best(work, runs=15) / SAMPLES

    columns = base.graph.shape[1]
    one = measure_best(lambda: inverse.one(q[0], qd[0], last[0]), calls=2000)
    peer_one = measure_best(lambda: pin.rnea(model, data, pq[0], pqd[0], plast[0]), calls=2000)
    return [
        Row(
            f"{name} base regressor ({columns}), in blocks",
            measure(iterate_blocks),
            regressor,
            "computeJointTorqueRegressor",
        ),
        Row(
            f"{name} base regressor ({columns}), fresh dense array",
            measure(lambda: base(q, qd, last, threads=1)),
            regressor,
            "computeJointTorqueRegressor",
        ),
        *(_measure_batch(f"{name} inverse dynamics", inverse, x, rnea, "rnea") for x in batches),
        *(_measure_batch(f"{name} forward dynamics", forward, x, aba, "aba") for x in batches),
        Row(f"{name} inverse dynamics, one call", one, peer_one, "rnea"),
    ]


def _measure_batch(name: str, kernel: AnyKernel, arrays: list[np.ndarray], peer: float, peer_name: str) -> Row:
    samples = len(arrays[0])
    out = np.empty((samples, *kernel.graph.shape))
    seconds = measure_best(lambda: kernel(*arrays, out=out, threads=1), runs=15) / samples
    return Row(f"{name}, batch of {samples}", seconds, peer, peer_name)


def _measure_start() -> list[Row]:
    """Start a new process and evaluate the first UR10 regressor, with an empty cache and with a filled one."""

    def start(folder: str) -> None:
        subprocess.run([sys.executable, "-c", START], check=True, env=os.environ | {"YTHETA_CACHE": folder})

    peer = measure_best(lambda: subprocess.run([sys.executable, "-c", "import pinocchio"], check=True), runs=3)
    with tempfile.TemporaryDirectory() as folder:
        cold = measure_best(lambda: start(folder), runs=1)
        warm = measure_best(lambda: start(folder), runs=5)
    return [
        Row("cold start to the first UR10 regressor", cold, peer, "import pinocchio alone"),
        Row("warm start to the first UR10 regressor", warm, peer, "import pinocchio alone"),
    ]
