"""Reuse of graphs: the same robot and options are traced once, anything else is traced again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.kernel_cache import forget_graphs, forget_machines
from ytheta.dynamics import graphs, kernels
from ytheta.errors import UnknownNameError
from ytheta.identifiability.registry import base_parameters
from ytheta.native import fingerprint
from ytheta.native import graph as native_graph
from ytheta.native.graph import Graph
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give every test its own cache. A source file that is edited during the test run does not disturb the tests."""
    monkeypatch.setenv("YTHETA_CACHE", str(tmp_path))
    monkeypatch.setattr(kernels, "fingerprint_sources", lambda *_: "sources")
    start_anew()
    yield tmp_path
    start_anew()


def start_anew() -> None:
    """Forget what a new process would not know."""
    forget_graphs()
    forget_machines()


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the graphs that were traced, in this order."""
    names: list[str] = []

    def trace(name: str, *args: object, **options: object) -> Graph:
        names.append(name)
        return native_graph.trace(name, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(graphs, "trace", trace)
    return names


def with_coulomb_speed(robot: Robot, speed: float) -> Robot:
    return robot.with_drives(lambda _, drive: replace(drive, coulomb_speed=speed))


def test_a_warm_kernel_traces_nothing(traced: list[str]) -> None:
    robot = load("ur10")
    inputs = np.random.default_rng(0).normal(size=(3, 5, 6))
    cold = kernels.regressor(robot)(*inputs)
    assert traced == ["regressor"]
    assert kernels.regressor(load("ur10"))(*inputs).tobytes() == cold.tobytes()  # an equal robot, in memory
    start_anew()
    warm = kernels.regressor(load("ur10"))
    assert traced == ["regressor"]
    assert warm(*inputs).tobytes() == cold.tobytes()
    assert warm.about.origin == "disk"


REQUESTS: dict[str, Callable[[Robot], object]] = {
    "another quantity": kernels.gravity,
    "another robot": lambda _: kernels.regressor(load("panda")),
    "another name": lambda robot: kernels.regressor(replace(robot, name="ur")),
    "another mass": lambda robot: kernels.regressor(
        robot.with_inertias({"wrist_3_link": robot.link("wrist_1_link").inertia})
    ),
    "another friction": lambda robot: kernels.regressor(with_coulomb_speed(robot, 0.1)),
    "another gravity": lambda robot: kernels.regressor(replace(robot, gravity=(0.0, 9.81, 0.0))),
    "another formulation": lambda robot: kernels.regressor(robot, formulation="kronecker"),
    "base parameters": lambda robot: kernels.regressor(robot, base_parameters(robot, method="lin")),
    "some parameters": lambda robot: kernels.regressor(robot, parameters=["wrist_3_link.m", "wrist_2_link.m"]),
    "in another order": lambda robot: kernels.regressor(robot, parameters=["wrist_2_link.m", "wrist_3_link.m"]),
    "a wrench": lambda robot: kernels.inverse_dynamics(robot, wrench_at="tool0"),
    "a wrench elsewhere": lambda robot: kernels.inverse_dynamics(robot, wrench_at="forearm_link"),
    "a wrench in other axes": lambda robot: kernels.inverse_dynamics(robot, wrench_at="tool0", wrench_axes="base"),
    "two wrenches": lambda robot: kernels.inverse_dynamics(robot, wrench_at=["tool0", "forearm_link"]),
    "forward dynamics with a wrench": lambda robot: kernels.forward_dynamics(robot, wrench_at="tool0"),
    "bias with a wrench": lambda robot: kernels.bias(robot, wrench_at="tool0"),
    "a Jacobian": lambda robot: kernels.jacobian(robot, "tool0"),
    "a Jacobian in other axes": lambda robot: kernels.jacobian(robot, "tool0", axes="base"),
    "a Jacobian of another frame": lambda robot: kernels.jacobian(robot, "forearm_link"),
    "another method": lambda robot: kernels.forward_dynamics(robot, method="regressor"),
    "a reference velocity": lambda robot: kernels.regressor(robot, reference=True),
}


def test_every_other_request_is_traced(traced: list[str]) -> None:
    robot = load("ur10")
    kernels.regressor(robot)
    for count, (what, request) in enumerate(REQUESTS.items(), start=2):
        request(robot)
        request(robot)
        assert len(traced) == count, what


def test_explicit_defaults_and_kinds_of_sequences_do_not_matter(traced: list[str]) -> None:
    robot = load("ur10")
    kernels.regressor(robot, parameters=["wrist_3_link.m"])
    graphs.regressor_graph(robot, parameters=("wrist_3_link.m",), formulation="", reference=False)
    graphs.regressor_graph(robot=robot, parameters=np.array(["wrist_3_link.m"]).tolist())
    assert traced == ["regressor"]


@pytest.mark.parametrize("name", ["five-bar", "ha-scara"])
def test_lengths_count(name: str, traced: list[str]) -> None:
    robot = load(name)
    length, value = robot.lengths[0]
    assert value is not None
    graphs.gravity_graph(robot)
    graphs.gravity_graph(robot.with_lengths(**{length: value}))
    assert len(traced) == 1
    graphs.gravity_graph(robot.with_lengths(**{length: 1.01 * value}))
    assert len(traced) == 2


def test_errors_are_not_stored(cache_folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(UnknownNameError):
            graphs.regressor_graph(load("ur10"), parameters=["elbow.m"])
    assert not list(cache_folder.iterdir())


def test_a_damaged_graph_is_traced_again(cache_folder: Path, traced: list[str]) -> None:
    inputs = np.random.default_rng(0).normal(size=(4, 6))
    cold = kernels.gravity(load("ur10"))(inputs)
    (path,) = cache_folder.glob("*.graph")
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    start_anew()
    assert kernels.gravity(load("ur10"))(inputs).tobytes() == cold.tobytes()
    assert traced == ["gravity", "gravity"]
    assert path.read_bytes() == content


@pytest.mark.parametrize("what", ["sources", "versions"])
def test_other_sources_and_versions_are_traced_again(
    what: str, traced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs.gravity_graph(load("ur10"))
    start_anew()
    graphs.gravity_graph(load("ur10"))
    assert len(traced) == 1
    changed = {"sources": "fingerprint_sources", "versions": "describe_versions"}[what]
    monkeypatch.setattr(kernels, changed, lambda *_: "changed")
    graphs.gravity_graph(load("ur10"))
    assert len(traced) == 2


def test_with_unknown_sources_nothing_is_reused(
    cache_folder: Path, traced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "fingerprint_sources", lambda *_: None)
    for _ in range(2):
        graphs.gravity_graph(load("ur10"))
    assert traced == ["gravity", "gravity"]
    assert not list(cache_folder.iterdir())


def test_a_graph_is_not_stored_if_the_sources_change_while_it_is_traced(
    cache_folder: Path, traced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["before", "after", "before", "before"])
    monkeypatch.setattr(kernels, "fingerprint_sources", lambda *_: next(answers))
    graphs.gravity_graph(load("ur10"))
    assert not list(cache_folder.iterdir())
    graphs.gravity_graph(load("ur10"))
    assert traced == ["gravity", "gravity"]
    assert len(list(cache_folder.iterdir())) == 1


def test_a_robot_without_fingerprint_is_traced(traced: list[str]) -> None:
    robot = load("ur10")
    object.__setattr__(robot, "about", object())
    for _ in range(2):
        graphs.gravity_graph(robot)
    assert traced == ["gravity", "gravity"]


def test_every_module_that_takes_part_in_tracing_counts() -> None:
    """Modules that a process loads in order to trace graphs of an arm and of a robot with loops."""
    code = (
        "import sys\n"
        "from ytheta.dynamics import graphs\n"
        "from ytheta.robot.reading.load import load\n"
        "for robot in (load('ur10'), load('walker')):\n"
        "    for make in (graphs.regressor_graph, graphs.inverse_dynamics_graph, graphs.forward_dynamics_graph):\n"
        "        make.__wrapped__(robot)\n"
        "print(*(m.__file__ for name, m in sys.modules.items() if name.startswith('ytheta.')), sep='\\n')\n"
    )
    listed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    loaded = {os.path.relpath(path, fingerprint.PACKAGE) for path in listed}
    assert len(loaded) > 40
    assert {path for path in loaded if path.split(os.sep)[0] not in kernels.TRACING_SOURCES} == set()


def test_equal_robots_are_found_across_processes(cache_folder: Path) -> None:
    code = (
        "from ytheta.dynamics import graphs\n"
        "from ytheta.robot.reading.load import load\n"
        "graphs.regressor_graph(load('five-bar'), parameters=[])\n"
    )
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    assert len(list(cache_folder.iterdir())) == 1


KERNELS: dict[str, tuple[Callable[[Robot], object], Callable[[Robot], Graph]]] = {
    "regressor": (kernels.regressor, graphs.regressor_graph),
    "inverse dynamics": (kernels.inverse_dynamics, graphs.inverse_dynamics_graph),
    "forward dynamics": (kernels.forward_dynamics, graphs.forward_dynamics_graph),
    "mass matrix": (kernels.mass_matrix, graphs.mass_matrix_graph),
    "gravity": (kernels.gravity, graphs.gravity_graph),
    "bias": (kernels.bias, graphs.bias_graph),
    "Coriolis matrix": (kernels.coriolis_matrix, graphs.coriolis_graph),
    "momentum": (kernels.momentum, graphs.momentum_graph),
    "energy": (kernels.energy, graphs.energy_graph),
    "momentum regressor": (kernels.momentum_regressor, graphs.momentum_regressor_graph),
    "remainder": (kernels.remainder, graphs.remainder_graph),
}


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_and_its_graph_share_the_cache(name: str, traced: list[str]) -> None:
    make_kernel, make_graph = KERNELS[name]
    kernel = make_kernel(load("lu-two-link"))
    assert traced == [name]
    assert make_graph(load("lu-two-link")) is kernel.graph  # type: ignore[attr-defined]


def test_a_warm_kernel_imports_nothing_that_traces() -> None:
    code = (
        "import sys, numpy as np, ytheta as yt\n"
        "yt.regressor(yt.load('ur10'))(*np.zeros((3, 2, 6)))\n"
        "print('ytheta.dynamics.graphs' in sys.modules)\n"
    )
    answers = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert answers == ["True", "False"]
