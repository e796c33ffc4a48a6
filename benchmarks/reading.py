"""Reading robots, and starting up, against Pinocchio."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from benchmarks.clock import Row, best_of


def rows() -> list[Row]:
    import pinocchio as pin

    import ytheta

    def start(code: str) -> float:
        command = [sys.executable, "-c", code]
        return best_of(lambda: subprocess.run(command, check=True), runs=5)

    idle = start("pass")
    found = [
        Row("import", start("import ytheta") - idle, start("import pinocchio") - idle, "import pinocchio"),
        Row(
            "import and load the catalog's UR10",
            start("import ytheta; ytheta.load('ur10')") - idle,
            start(f"import pinocchio as p; p.buildModelFromUrdf({str(example_urdf('ur10_robot.urdf'))!r})") - idle,
            "import pinocchio, buildModelFromUrdf",
        ),
    ]
    for name in ("ur10_robot.urdf", "talos_full_v2.urdf"):
        path = example_urdf(name)
        found.append(
            Row(
                f"read {name}",
                best_of(lambda path=path: ytheta.load(path)),  # type: ignore[misc]
                best_of(lambda path=path: pin.buildModelFromUrdf(str(path))),  # type: ignore[misc]
                "pin.buildModelFromUrdf (C++)",
            )
        )
    return found


def example_urdf(name: str) -> Path:
    spec = importlib.util.find_spec("pinocchio")
    assert spec is not None
    assert spec.origin is not None
    prefix = next(parent for parent in Path(spec.origin).parents if parent.name == "cmeel.prefix")
    return next((prefix / "share" / "example-robot-data").rglob(name))
