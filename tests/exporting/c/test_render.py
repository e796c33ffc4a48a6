"""Exported C code: it compiles without warnings, its self-test passes and notices errors, no name can inject code."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ytheta as yt
from tests.support import pinocchio_peer
from tests.support.c_code import Library, compile_program, find_compiler, load_library, run
from tests.support.control_samples import add_friction
from tests.support.paths import ROOT
from ytheta.errors import InputError
from ytheta.exporting.c.self_test import TOLERANCES
from ytheta.robot.robot import Robot

HOSTILE = '*/ int x; /* "\\" ??/\n%s ${HOME} ギター'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "ur10"
    yt.export(add_friction(yt.load("ur10")), to="c", path=path)
    return path


@pytest.fixture(scope="module")
def library(folder: Path) -> Library:
    return load_library(folder, "ur10")


def draw(robot: Robot) -> list[np.ndarray]:
    return list(np.random.default_rng(2).uniform(-1.5, 1.5, (3, len(robot.actuated))))


def test_results_agree_with_python(library: Library) -> None:
    robot = add_friction(yt.load("ur10"))
    q, qd, qdd = draw(robot)
    tau = yt.inverse_dynamics(robot).one(q, qd, qdd)
    expected = {
        "inverse_dynamics": ((q, qd, qdd), tau),
        "gravity": ((q,), yt.gravity(robot).one(q)),
        "mass_matrix": ((q,), yt.mass_matrix(robot).one(q)),
        "forward_dynamics": ((q, qd, tau), qdd),
    }
    for name, (inputs, values) in expected.items():
        computed = library.compute(name, values.shape, *inputs)
        np.testing.assert_allclose(computed, values, rtol=0, atol=1e-12 * abs(values).max(), err_msg=name)
        if name != "forward_dynamics":
            wrong = library.compute(name, values.shape, inputs[0] + 1e-9, *inputs[1:])
            assert abs(wrong - values).max() > 1e-12 * abs(values).max()


def test_results_agree_with_pinocchio(library: Library) -> None:
    """Friction and rotor inertia, which Pinocchio's model does not contain, are subtracted."""
    robot = add_friction(yt.load("ur10"))
    q, qd, qdd = draw(robot)
    friction = library.compute("friction", (6,), qd)
    rotors = np.array([drive.rotor_inertia * drive.gear_ratio**2 for _, drive in robot.drives])
    computed = library.compute("inverse_dynamics", (6,), q, qd, qdd) - friction - rotors * qdd
    expected = pinocchio_peer.peer(robot).torque(q, qd, qdd)
    np.testing.assert_allclose(computed, expected, rtol=0, atol=1e-12 * abs(expected).max())
    assert abs(friction).max() > 0.1


def test_the_regressor_and_its_parameters_give_the_torque(library: Library) -> None:
    robot = add_friction(yt.load("ur10"))
    count = len(yt.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset")))
    beta = library.compute("get_parameters", (count,))
    q, qd, qdd = draw(robot)
    torque = library.compute("regressor", (6, count), q, qd, qdd) @ beta
    np.testing.assert_allclose(torque, library.compute("inverse_dynamics", (6,), q, qd, qdd), rtol=0, atol=1e-10)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_self_test_passes(compiler: str, folder: Path) -> None:
    sources = ["ur10.c", "ur10_selftest.c"]
    result = run(compile_program(folder, sources, "-O1", compiler=compiler, output=f"test_{compiler}"))
    assert result.returncode == 0, result.stdout
    assert result.stdout.endswith("passed\n")
    assert result.stdout.count("\n") == 6 * 3 + 3 + 1


def test_the_self_test_notices_a_changed_number(folder: Path, tmp_path: Path) -> None:
    for name in ("ur10.h", "ur10_selftest.c"):
        shutil.copy(folder / name, tmp_path)
    text = (folder / "ur10.c").read_text()
    constant = re.findall(r"a\d+ = (0\.\d{6,}) \* ", text[text.index("void ur10_gravity") :])[0]
    (tmp_path / "ur10.c").write_text(text.replace(constant, f"{float(constant) * (1 + 1e-9)!r}"))
    result = run(compile_program(tmp_path, ["ur10.c", "ur10_selftest.c"], "-O0"))
    assert result.returncode == 1
    assert "FAILED" in result.stdout


@pytest.mark.parametrize("parameters", ["baked", "passed"])
def test_single_precision(parameters: str, tmp_path: Path) -> None:
    robot = yt.load("ha-scara", lengths={"a1": 0.4, "a2": 0.3})
    options = yt.COptions(precision="float", parameters=parameters, controllers=("pd-gravity",), name="arm")
    yt.export(robot, to="c", path=tmp_path / "arm", options=options)
    assert "double" not in (tmp_path / "arm" / "arm.c").read_text()
    result = run(compile_program(tmp_path / "arm", ["arm.c", "arm_selftest.c"], "-O1", "-Wdouble-promotion"))
    assert result.returncode == 0, result.stdout
    assert TOLERANCES["float"] == 1e-5


def test_parameters_can_be_changed(tmp_path: Path) -> None:
    robot = yt.load("lu-two-link")
    options = yt.COptions(parameters="passed", functions=("inverse_dynamics", "regressor"), name="arm")
    yt.export(robot, to="c", path=tmp_path / "arm", options=options)
    library = load_library(tmp_path / "arm", "arm")
    count = int(re.findall(r"#define ARM_BASE_PARAMETERS (\d+)", (tmp_path / "arm" / "arm.h").read_text())[0])
    beta = library.compute("get_parameters", (count,))
    q, qd, qdd = draw(robot)
    torque = yt.inverse_dynamics(robot).one(q, qd, qdd)
    np.testing.assert_allclose(library.compute("inverse_dynamics", (2,), beta, q, qd, qdd), torque, rtol=1e-13)
    other = beta + np.linspace(0.1, 1.0, count)
    expected = library.compute("regressor", (2, count), q, qd, qdd) @ other
    np.testing.assert_allclose(library.compute("inverse_dynamics", (2,), other, q, qd, qdd), expected, rtol=1e-13)
    assert not np.allclose(expected, torque)


def test_no_name_injects_code(tmp_path: Path) -> None:
    robot = yt.load("lu-two-link")
    links = {link.name: f"{HOSTILE}{k}" for k, link in enumerate(robot.links)}
    joints = tuple(
        replace(joint, name=f"{HOSTILE}j{k}", parent=links[joint.parent], child=links[joint.child])
        for k, joint in enumerate(robot.joints)
    )
    renamed = replace(
        robot,
        name=HOSTILE,
        links=tuple(replace(link, name=links[link.name]) for link in robot.links),
        joints=joints,
        actuated=(),
        markers=(),
        home=(),
    )
    path = tmp_path / "arm"
    files = yt.export(renamed, to="c", path=path, options=yt.COptions(controllers=("slotine-li",)))
    assert sorted(file.parent for file in files) == [path] * 4
    assert {file.name for file in files} == {
        "CMakeLists.txt",
        "int_x_s_home.h",
        "int_x_s_home.c",
        "int_x_s_home_selftest.c",
    }
    text = "".join(file.read_text(encoding="ascii") for file in files)
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert "int x;" not in code
    assert "??" not in text
    result = run(compile_program(path, ["int_x_s_home.c", "int_x_s_home_selftest.c"], "-O0", "-Wtrigraphs"))
    assert result.returncode == 0, result.stdout


def test_closed_loops_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="closed loops"):
        yt.export("five-bar", to="c", path=tmp_path / "arm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("library")
def test_there_are_neither_globals_nor_allocations(folder: Path) -> None:
    symbols = subprocess.run([find_compiler("nm"), "ur10.so"], cwd=folder, capture_output=True, text=True, check=True)
    rows = [line.split()[-2:] for line in symbols.stdout.splitlines()]
    data = [name for kind, name in rows if kind in "BbDdCc" and not name.startswith(("_", "completed", "__"))]
    assert data == []
    needed = [name.split("@")[0] for kind, name in rows if kind == "U"]
    assert needed == ["sqrt"]  # of the smooth Coulomb friction, and nothing else
    assert "Needs from the C library: sqrt." in (folder / "ur10.h").read_text()
    assert "malloc" not in (folder / "ur10.c").read_text()


def test_cmake_builds_and_runs_the_self_test(tmp_path: Path) -> None:
    cmake, source, build = find_compiler("cmake"), tmp_path / "source", tmp_path / "build"
    options = yt.COptions(name="test", functions=("gravity",))  # CMake reserves the target "test"
    yt.export("lu-two-link", to="c", path=source, options=options)
    subprocess.run([cmake, "-S", str(source), "-B", str(build)], check=True, capture_output=True)
    subprocess.run([cmake, "--build", str(build)], check=True, capture_output=True)
    result = subprocess.run([find_compiler("ctest")], cwd=build, capture_output=True, text=True)
    assert "100% tests passed" in result.stdout


def test_the_loop_in_cpp_runs(tmp_path: Path) -> None:
    compiler = find_compiler("g++")
    options = yt.COptions(
        name="arm", functions=("gravity", "forward_dynamics"), controllers=("computed-torque",), rate=1000.0
    )
    yt.export("ur10", to="c", path=tmp_path / "arm", options=options)
    compile_program(tmp_path, ["arm/arm.c"], "-O1", "-c", output="arm.o")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-O1", "-Iarm"]
    command = [compiler, *flags, str(ROOT / "examples" / "control_loop.cpp"), "arm.o", "-o", "loop"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    result = run(tmp_path / "loop")
    assert result.returncode == 0, result.stdout
    assert re.match(r"gravity compensation: drift \S+ rad in 0.5 s\ncomputed torque: error at most", result.stdout)
