"""Start-up: help, the version and wrong usage load no library that only the work of a command needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

HEAVY = ("numpy", "scipy", "polars", "casadi", "llvmlite", "sympy", "tomlkit", "plotly")
MODULES = {path.stem for path in (ROOT / "src" / "ytheta" / "cli").glob("*.py")} - {"__init__"}

# Prints the heavy libraries that each of the modules in sys.argv loads, in this order.
IMPORT_MODULES = f"""
import importlib, json, sys
loaded = {{}}
for name in sys.argv[1:]:
    before = set(sys.modules)
    importlib.import_module(name)
    loaded[name] = sorted((set(sys.modules) - before) & set({HEAVY!r}))
print(json.dumps(loaded))
"""

# Runs the command with the arguments in sys.argv, and prints the heavy libraries that are loaded when it ends.
RUN_COMMAND = f"""
import json, sys
from ytheta.cli import main
try:
    main()
except SystemExit as end:
    print(json.dumps([end.code, sorted(set(sys.modules) & set({HEAVY!r}))]))
"""


def list_loaded(*modules: str, cwd: Path = ROOT) -> dict[str, list[str]]:
    command = [sys.executable, "-c", IMPORT_MODULES, *modules]
    result = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    loaded: dict[str, list[str]] = json.loads(result.stdout)
    return loaded


def run(*arguments: str) -> tuple[int, list[str]]:
    """Run the command in a process of its own; return the exit code and the heavy libraries that it loaded."""
    command = [sys.executable, "-c", RUN_COMMAND, *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    code, loaded = json.loads(result.stdout.splitlines()[-1])
    return code, loaded


def test_command_modules_are_light() -> None:
    order = [*sorted(MODULES - {"app"}), "app"]  # the last one imports all others
    loaded = list_loaded(*(f"ytheta.cli.{name}" for name in order))
    assert {name: libraries for name, libraries in loaded.items() if libraries} == {}


def test_a_heavy_import_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "heavy_command.py").write_text("import ytheta.cli.app\nfrom ytheta.robot.robot import Robot\n")
    assert list_loaded("heavy_command", cwd=tmp_path)["heavy_command"] == ["numpy"]


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), (), ("identify", "--help"), ("simulate", "--help"), ("inspect", "--helf")],
)
def test_help_version_and_wrong_usage_are_light(arguments: tuple[str, ...]) -> None:
    code, loaded = run(*arguments)
    assert (code, loaded) == (2 if "--helf" in arguments else 0, [])


def test_a_command_that_works_loads_its_libraries() -> None:
    code, loaded = run("robots")
    assert code == 0
    assert "numpy" in loaded


# Runs the command, and prints the threads of NumPy's BLAS and the variable from which it takes their number.
COUNT_THREADS = """
import json, os, sys
from ytheta.cli import main
try:
    main()
except SystemExit:
    import numpy
    from threadpoolctl import threadpool_info
    threads = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    print(json.dumps([threads, os.environ["OPENBLAS_NUM_THREADS"]]))
"""


@pytest.mark.parametrize("given", [None, "2"])
def test_blas_has_one_thread_unless_the_user_says_otherwise(given: str | None) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    environment |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    command = [sys.executable, "-c", COUNT_THREADS, "--version"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    threads, variable = json.loads(result.stdout.splitlines()[-1])
    assert variable == (given or "1")
    if given is None:
        assert set(threads) <= {1}
