"""Exported C code: time per call beside the C that CasADi generates from the same graph, and beside Pinocchio's C++.

All programs are compiled with ``gcc -O3 -march=native`` (g++ for Pinocchio) and called in a loop over different motion.
CasADi's C calls sin and cos of the C library. Pinocchio's model has the numbers of a URDF of the same robot, and its
algorithms are compiled from its headers with the same options. This needs the headers of Pinocchio, which its wheel
contains, and those of Eigen, which it does not contain: without them, the rows of Pinocchio are left out.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import ytheta as yt
from benchmarks import dynamics
from benchmarks.clock import Row, print_rows
from benchmarks.reading import find_example_urdf
from ytheta.errors import InputError
from ytheta.exporting.functions import RobotFunction, RobotFunctions
from ytheta.robot.robot import Robot

ROBOTS = tuple(name for name, _, _ in dynamics.ROBOTS.values())
PINOCCHIO_ROBOTS = ROBOTS[:1]  # compiling its templates takes minutes
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "regressor")
REPETITIONS = 1000
CALLS = 512  # in one measured run
FLAGS = ("-O3", "-march=native")
EIGEN = Path("/usr/include/eigen3")


def measure_rows() -> list[Row]:
    if shutil.which("gcc") is None:
        return []
    rows = []
    for name in ROBOTS:
        robot = yt.load(name)
        with tempfile.TemporaryDirectory() as folder:
            times = measure(robot, Path(folder))
            pinocchio = measure_pinocchio(name, Path(folder)) if name in PINOCCHIO_ROBOTS else {}
        for function in FUNCTIONS:
            label = f"{name} {function.replace('_', ' ')} in C"
            rows.append(Row(label, times["own", function], times["casadi", function], "CasADi's C"))
            if function in pinocchio:
                rows.append(Row(label, times["own", function], pinocchio[function], "Pinocchio in C++"))
    return rows


def measure(robot: Robot, folder: Path) -> dict[tuple[str, str], float]:
    """Return the time per call in s of every function, with our own sine and cosine and as CasADi writes it."""
    options = yt.COptions(name="own", functions=FUNCTIONS)
    yt.export(robot, to="c", path=folder / "own", options=options)
    functions = RobotFunctions(robot, "baked", FUNCTIONS).functions
    sources = ["own/own.c", "driver.c"]
    declarations, work = [], []
    for function in functions:
        write_casadi_source(function, folder)
        sources.append(f"{function.name}.c")
        declarations.append(f"int {function.name}(const double **, double **, long long *, double *, int);")
        inputs = ", ".join(f"in[{k}][k & 63]" for k in range(len(function.graph.inputs)))
        call = f"const double *a[] = {{{inputs}}}; double *r[] = {{out}}; {function.name}(a, r, 0, 0, 0);"
        work += [("own", function.name, f"own_{function.name}({inputs}, out);"), ("casadi", function.name, call)]
    (folder / "driver.c").write_text(format_driver(len(robot.actuated), ['#include "own/own.h"', *declarations], work))
    return run_driver(folder, ["gcc", *FLAGS, *sources, "-o", "driver", "-lm"])


def write_casadi_source(function: RobotFunction, folder: Path) -> None:
    """Write the C code that CasADi generates from a graph."""
    import casadi

    graph = function.graph
    inputs = [casadi.SX.sym(entry.name, entry.size) for entry in graph.inputs]
    generator = casadi.CodeGenerator(f"{function.name}.c")
    generator.add(casadi.Function(function.name, inputs, [graph.function(*inputs)]))
    generator.generate(f"{folder}/")


def measure_pinocchio(name: str, folder: Path) -> dict[str, float]:
    """Return the times of Pinocchio's algorithms; empty if its headers or those of Eigen are not installed."""
    try:
        import pinocchio
    except ImportError:
        return {}
    prefix = next((path for path in Path(pinocchio.__file__).parents if path.name == "cmeel.prefix"), None)
    if prefix is None or not (prefix / "include" / "pinocchio").is_dir() or not EIGEN.is_dir():
        return {}
    motion = [f"v[{i}][k & 63]" for i in range(3)]
    all_motion = ", ".join(motion)
    calls = {
        "inverse_dynamics": f"pinocchio::rnea(model, data, {all_motion}); out[0] = data.tau[0];",
        "forward_dynamics": f"pinocchio::aba(model, data, {all_motion}); out[0] = data.ddq[0];",
        "mass_matrix": f"pinocchio::crba(model, data, {motion[0]}); out[0] = data.M(0, 0);",
        "gravity": f"pinocchio::computeGeneralizedGravity(model, data, {motion[0]}); out[0] = data.g[0];",
    }
    head = [f"#include <pinocchio/algorithm/{name}.hpp>" for name in ("rnea", "aba", "crba")]
    model = _read_model(name)
    n = model.nv
    setup = [*_format_model(model), "pinocchio::Data data(model);", "static Eigen::VectorXd v[3][64];"]
    setup.append("for (i = 0; i < 3; i++) for (j = 0; j < 64; j++)")
    setup.append(f"v[i][j] = Eigen::Map<Eigen::VectorXd>(in[i][j], {n});")
    text = format_driver(n, head, [("pinocchio", name, call) for name, call in calls.items()], setup)
    (folder / "driver.cpp").write_text(text)
    include = [f"-I{prefix / 'include'}", f"-I{EIGEN}"]
    defines = ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-std=c++17", "-w"]
    defines.append("-DBOOST_FUSION_INVOKE_MAX_ARITY=10")
    command = ["g++", *FLAGS, "-DNDEBUG", *defines, *include, "driver.cpp", "-o", "driver"]
    libraries = [f"-L{prefix / 'lib'}", "-lboost_serialization", f"-Wl,-rpath,{prefix / 'lib'}"]
    return {name: seconds for (_, name), seconds in run_driver(folder, [*command, *libraries]).items()}


def _read_model(name: str) -> Any:
    """Return Pinocchio's model of the arm."""
    import pinocchio

    file, locked = next((file, locked) for catalog, file, locked in dynamics.ROBOTS.values() if catalog == name)
    whole = pinocchio.buildModelFromUrdf(str(find_example_urdf(file)))
    joints = [whole.getJointId(joint) for joint in locked]
    return pinocchio.buildReducedModel(whole, joints, pinocchio.neutral(whole))


def _format_model(model: Any) -> list[str]:
    """Return C++ statements that build a model of an arm with revolute joints."""
    lines = ["pinocchio::Model model;"]
    for k in range(1, model.njoints):
        placement, inertia = model.jointPlacements[k], model.inertias[k]
        joint = f"pinocchio::{model.joints[k].shortname()}()"  # JointModelRX, RY or RZ
        rotation = ", ".join(f"{value!r}" for value in placement.rotation.ravel().tolist())
        shift = ", ".join(f"{value!r}" for value in placement.translation.tolist())
        moments = ", ".join(f"{value!r}" for value in inertia.inertia.ravel().tolist())
        lever = ", ".join(f"{value!r}" for value in inertia.lever.tolist())
        lines += [
            "{",
            f"Eigen::Matrix3d R, I; R << {rotation}; I << {moments};",
            f"pinocchio::SE3 placement(R, Eigen::Vector3d({shift}));",
            f'auto id = model.addJoint({model.parents[k]}, {joint}, placement, "j{k}");',
            f"model.appendBodyToJoint(id, pinocchio::Inertia({inertia.mass!r}, Eigen::Vector3d({lever}), I));",
            "}",
        ]
    return lines


def format_driver(n: int, head: list[str], work: list[tuple[str, str, str]], setup: list[str] | None = None) -> str:
    """Return a program that prints the shortest time per call of every function, in ns."""
    lines = ["#include <stdio.h>", "#include <time.h>", *head, f"static double in[4][64][{n}], out[4096];"]
    lines += ["static volatile double sink;", "static double now(void) { struct timespec t; "]
    lines[-1] += "clock_gettime(CLOCK_MONOTONIC, &t); return 1e9 * (double)t.tv_sec + (double)t.tv_nsec; }"
    lines += ["int main(void) {", "int k, i, j; double best, t;"]
    lines += [f"for (k = 0; k < 4; k++) for (i = 0; i < 64; i++) for (j = 0; j < {n}; j++)"]
    lines += ["in[k][i][j] = 0.37 * ((k * 7 + i * 13 + j * 29) % 17) - 3;", *(setup or [])]
    for who, name, call in work:
        lines += [f"best = 1e30; for (i = 0; i < {REPETITIONS}; i++) {{ t = now();"]
        lines += [f"for (k = 0; k < {CALLS}; k++) {{ {call} sink = out[0]; }}"]
        lines += [f't = (now() - t) / {CALLS}; if (t < best) best = t; }} printf("{who} {name} %.3f\\n", best);']
    return "\n".join([*lines, "return 0; }", ""])


def run_driver(folder: Path, command: list[str]) -> dict[tuple[str, str], float]:
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if built.returncode:
        raise InputError(f"{command[0]} failed: {built.stderr[:2000]}; check the installed headers")
    result = subprocess.run(["./driver"], cwd=folder, check=True, capture_output=True, text=True)
    rows = [line.split() for line in result.stdout.splitlines()]
    return {(who, name): 1e-9 * float(time) for who, name, time in rows}


if __name__ == "__main__":
    print_rows(measure_rows())
