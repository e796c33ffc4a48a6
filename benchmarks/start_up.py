"""Start-up: the time of commands compared with the imports that they cannot do without, each in new processes.

The logs are those of ``make demo``. Byte code and the cache of kernels are in a temporary folder and warm, as for a
user who has called the command before. The runs of a command and of its peer alternate, so that both see the same load.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.clock import Row

ROOT = Path(__file__).parents[1]
LOGS = ROOT / "report"  # where ``make demo`` writes
RUNS = 9
IMPORT_TYPER = "import typer"
IMPORT_LIBRARIES = "import numpy, polars, casadi, llvmlite.binding"
MAX_RATIO_OF_HELP, MAX_RATIO_OF_IDENTIFY = 2.5, 3.0


def measure_rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as temporary:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": f"{temporary}/byte_code", "YTHETA_CACHE": f"{temporary}/kernels"}
        fit, validate = find_logs(Path(temporary))
        identify = ("identify", "ur10", str(fit), "--validate", str(validate), "--rotor-inertia")
        return [
            _measure_command(("--version",), IMPORT_TYPER, MAX_RATIO_OF_HELP, environment),
            _measure_command(("--help",), IMPORT_TYPER, MAX_RATIO_OF_HELP, environment),
            _measure_command(identify, IMPORT_LIBRARIES, MAX_RATIO_OF_IDENTIFY, environment),
        ]


def find_logs(temporary: Path) -> tuple[Path, Path]:
    """Return the logs for the fit and for the validation; simulate them if ``make demo`` has not been called."""
    folder = LOGS
    if not all((folder / f"ur10.{purpose}.parquet").exists() for purpose in ("fit", "validate")):
        folder = temporary
        command = [sys.executable, "-m", "examples.mujoco_log", "ur10", "-o", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder / "ur10.fit.parquet", folder / "ur10.validate.parquet"


def _measure_command(arguments: Sequence[str], imports: str, limit: float, environment: Mapping[str, str]) -> Row:
    command = [str(Path(sys.executable).with_name("ytheta")), *arguments]
    peer = [sys.executable, "-c", imports]
    times: dict[str, list[float]] = {"command": [], "peer": []}
    for run in range(RUNS + 1):
        for name, arguments_of_process in (("command", command), ("peer", peer)):
            seconds = _time_process(arguments_of_process, environment)
            if run:  # the first run fills the caches
                times[name].append(seconds)
    return Row(f"ytheta {arguments[0]}", min(times["command"]), min(times["peer"]), imports, limit)


def _time_process(command: Sequence[str], environment: Mapping[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=dict(environment), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start
