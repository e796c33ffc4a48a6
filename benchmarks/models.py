"""Which models of a folder load: ``python -m benchmarks.models FOLDER [--no-count] [--fix-base]``.

Every MJCF, URDF, xacro and SDF file below the folder is loaded, and the base parameters of its links are counted. MJCF
files without bodies of their own, which others include, are left out. The table has one row for each model; a model
that is refused has the first sentence of the error. Each model is read in a process of its own with a limit of time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

PATTERNS = ("*.xml", "*.urdf", "*.urdf.xacro", "*.sdf")
_INCLUDES_SECTION = re.compile(r"<mujoco[^>]*>(?:\s|<!--.*?-->)*<(?:include|option|compiler|default)\b", re.DOTALL)
MAX_SECONDS = 300  # for one model
NOT_MODELS = ("package.xml", "CMakeLists.xml", "model.config")


@dataclass(frozen=True)
class Row:
    """The result of one model; ``reason`` is empty if it loads and counts."""

    model: str
    joints: int = 0
    actuated: int = 0
    loops: int = 0
    floating: bool = False
    base_count: int | None = None
    load_seconds: float = 0.0
    count_seconds: float = 0.0
    loads: bool = False
    reason: str = ""


def find_models(folder: Path) -> Iterator[Path]:
    """Yield the models of a folder."""
    for path in sorted({path for pattern in PATTERNS for path in folder.rglob(pattern)}):
        if path.name not in NOT_MODELS and not _is_fragment(path):
            yield path


def _is_fragment(path: Path) -> bool:
    """Whether a file is a part that other files include: an MJCF without <worldbody>, or whose bodies have no world."""
    if path.suffix != ".xml":
        return False
    text = path.read_text(encoding="utf-8", errors="replace")
    if "<robot" in text:
        return False
    return "<mujoco" not in text or ("<worldbody" not in text and not _INCLUDES_SECTION.search(text))


def measure(path: Path, *, count: bool, fix_base: bool) -> Row:
    """Load one model and count its base parameters, in this process."""
    import logging

    import ytheta as yt

    logging.disable(logging.CRITICAL)
    start = time.perf_counter()
    try:
        robot = yt.load(path, fix_base=fix_base)
    except Exception as error:
        return Row(str(path), load_seconds=time.perf_counter() - start, reason=_describe(error))
    loaded = time.perf_counter()
    row = Row(
        str(path),
        joints=len(robot.movable),
        actuated=len(robot.actuated),
        loops=len(robot.loops),
        floating=bool(getattr(robot, "floating", False)),
        load_seconds=loaded - start,
        loads=True,
    )
    if not count:
        return row
    try:
        base = len(yt.base_parameters(robot)) if robot.actuated else 0  # a camera or a tool has no joints
    except Exception as error:
        return replace(row, count_seconds=time.perf_counter() - loaded, reason=_describe(error))
    return replace(row, base_count=base, count_seconds=time.perf_counter() - loaded)


def _describe(error: Exception) -> str:
    kind = "" if type(error).__module__.startswith("ytheta") else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())


def measure_in_process(path: Path, *, count: bool, fix_base: bool) -> Row:
    """Measure one model in a process of its own, so that a crash or an endless computation costs one row."""
    options = [*(["--no-count"] if not count else []), *(["--fix-base"] if fix_base else [])]
    command = [sys.executable, "-m", "benchmarks.models", "--one", str(path), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Row(str(path), load_seconds=MAX_SECONDS, reason=f"takes more than {MAX_SECONDS} s")
    try:
        return Row(**json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        return Row(str(path), reason=f"crashed with code {done.returncode}")


def print_table(rows: list[Row], folder: Path) -> None:
    """Print one line for each model, and the totals."""
    width = max((len(_shorten(row.model, folder)) for row in rows), default=5)
    print(f"{'model':<{width}}  loads  joints  actuated  loops  floating   base  load s  count s  reason")
    for row in rows:
        base = "" if row.base_count is None else row.base_count
        print(
            f"{_shorten(row.model, folder):<{width}}  {'yes' if row.loads else 'no':>5}  {row.joints:>6}  "
            f"{row.actuated:>8}  {row.loops:>5}  {'yes' if row.floating else '':>8}  {base:>5}  "
            f"{row.load_seconds:>6.2f}  {row.count_seconds:>7.2f}  {row.reason[:160]}"
        )
    counted = sum(row.loads and not row.reason for row in rows)
    print(f"{len(rows)} models: {sum(row.loads for row in rows)} load, {counted} load and count")


def _shorten(model: str, folder: Path) -> str:
    return str(Path(model).relative_to(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-count", action="store_true", help="only load the models")
    parser.add_argument("--fix-base", action="store_true", help="fix floating bases")
    parser.add_argument("--one", action="store_true", help="FOLDER is one model; print its row as JSON")
    arguments = parser.parse_args()
    count, fix_base = not arguments.no_count, arguments.fix_base
    if arguments.one:
        print(json.dumps(vars(measure(arguments.folder, count=count, fix_base=fix_base))))
        return
    models = list(find_models(arguments.folder))
    rows: list[Row] = []
    for k, path in enumerate(models, start=1):
        print(f"\r{k} of {len(models)}", end="", file=sys.stderr)
        rows.append(measure_in_process(path, count=count, fix_base=fix_base))
    print(file=sys.stderr)
    print_table(rows, arguments.folder)


if __name__ == "__main__":
    main()
