"""Import time and reading of robots, compared with Pinocchio."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from benchmarks.clock import Row, measure_best


def measure_rows() -> list[Row]:
    import pinocchio as pin

    import ytheta

    def measure_start(code: str) -> float:
        command = [sys.executable, "-c", code]
        return measure_best(lambda: subprocess.run(command, check=True), runs=5)

    idle = measure_start("pass")
    result = [
        Row(
            "import",
            measure_start("import ytheta") - idle,
            measure_start("import pinocchio") - idle,
            "import pinocchio",
        ),
        Row(
            "import and load the catalog's UR10",
            measure_start("import ytheta; ytheta.load('ur10')") - idle,
            measure_start(f"import pinocchio as p; p.buildModelFromUrdf({str(find_example_urdf('ur10_robot.urdf'))!r})")
            - idle,
            "import pinocchio, buildModelFromUrdf",
        ),
    ]
    for name in ("ur10_robot.urdf", "talos_full_v2.urdf"):
        path = find_example_urdf(name)
        result.append(
            Row(
                f"read {name}",
                measure_best(lambda path=path: ytheta.load(path)),  # type: ignore[misc]
                measure_best(lambda path=path: pin.buildModelFromUrdf(str(path))),  # type: ignore[misc]
                "pin.buildModelFromUrdf (C++)",
            )
        )
    return result


def find_example_urdf(name: str) -> Path:
    """Return the path of a URDF file of the package example-robot-data."""
    spec = importlib.util.find_spec("pinocchio")
    assert spec is not None
    assert spec.origin is not None
    prefix = next(parent for parent in Path(spec.origin).parents if parent.name == "cmeel.prefix")
    return next((prefix / "share" / "example-robot-data").rglob(name))
