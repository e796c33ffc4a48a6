"""CasADi functions: they are loaded without ytheta, with names and shapes, and compute what the kernels compute."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import casadi
import numpy as np
import pytest

import ytheta as yt
from ytheta.errors import InputError, UnknownNameError
from ytheta.exporting.casadi import CASADI_FUNCTIONS


def test_one_function_is_one_file(tmp_path: Path) -> None:
    robot, path = yt.load("lu-two-link"), tmp_path / "arm.casadi"
    assert yt.export(robot, to="casadi", path=path) == (path,)
    function = casadi.Function.load(str(path))
    assert (function.name_in(), function.name_out()) == (["q", "qd", "qdd"], ["tau"])
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    expected = yt.inverse_dynamics(robot).one(q, qd, qdd)
    computed = np.asarray(function(q=q, qd=qd, qdd=qdd)["tau"]).ravel()
    np.testing.assert_allclose(computed, expected, rtol=1e-13)
    assert not np.allclose(np.asarray(function(q + 0.1, qd, qdd)).ravel(), expected, rtol=1e-13)


def test_a_folder_contains_all_functions(tmp_path: Path) -> None:
    robot, folder = yt.load("ha-scara", lengths={"a1": 0.4, "a2": 0.3}), tmp_path / "arm"
    files = yt.export(robot, to="casadi", path=folder, options=yt.CasadiOptions(parameters="passed"))
    assert [path.name for path in files] == [f"{name}.casadi" for name in CASADI_FUNCTIONS]
    functions = {path.stem: casadi.Function.load(str(path)) for path in files}
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    base = yt.base_parameters(robot, rotor_inertia=True, friction=("viscous", "coulomb", "offset", "root", "load"))
    tau = yt.inverse_dynamics(robot).one(q, qd, qdd)
    Y = np.asarray(functions["regressor"](q, qd, qdd))
    assert Y.shape == (4, len(base))
    np.testing.assert_allclose(Y @ base.beta, tau, rtol=1e-12)
    M = np.asarray(functions["mass_matrix"](q, base.beta))
    np.testing.assert_allclose(M, yt.mass_matrix(robot).one(q), rtol=0, atol=1e-12)
    assert not np.array_equal(M, M.T[::-1])
    np.testing.assert_allclose(np.asarray(functions["forward_dynamics"](q, qd, tau, base.beta)).ravel(), qdd, rtol=1e-9)


def test_loops_are_closed_by_the_caller(tmp_path: Path) -> None:
    robot, path = yt.load("palletiser"), tmp_path / "arm.casadi"
    yt.export(robot, to="casadi", path=path, force=True)
    function = casadi.Function.load(str(path))
    assert function.name_in()[0] == "x"
    home = dict(zip(robot.coordinates, robot.home_coordinates.tolist(), strict=True))
    actuated = {name: home[name] + 0.1 for name in robot.actuated}
    x = np.array(list(yt.close_loops(robot, actuated).or_raise().coordinates.values()))
    q = np.array(list(actuated.values()))
    qd, qdd = np.random.default_rng(0).uniform(-1, 1, (2, len(q)))
    expected = yt.inverse_dynamics(robot).one(q, qd, qdd)
    np.testing.assert_allclose(np.asarray(function(x, qd, qdd)).ravel(), expected, rtol=1e-9)


def test_ytheta_is_not_needed_to_load(tmp_path: Path) -> None:
    yt.export("lu-two-link", to="casadi", path=tmp_path / "arm.casadi", options=yt.CasadiOptions(("gravity",)))
    code = "import sys, casadi; f = casadi.Function.load(sys.argv[1]); print(f, 'ytheta' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "arm.casadi")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "gravity:(q[2])->(tau[2]) SXFunction False"


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'gravity'"):
        yt.CasadiOptions(functions=("gravty",))
    options = yt.CasadiOptions(functions=("gravity", "friction"))
    with pytest.raises(InputError, match="2 functions to export; give a folder"):
        yt.export("lu-two-link", to="casadi", path=tmp_path / "arm.casadi", options=options)
