"""Whether two source trees print and write the same: ``python -m tools.same_outputs BASE [HEAD] [--only WORD]``.

BASE and HEAD are checkouts; HEAD is this one by default. Every command of ``same_outputs.txt`` runs with the sources of
both trees, with the same interpreter, in a folder with copies of the shared data and robots. The exit code, stdout,
stderr and all written files are compared byte by byte. Only these differences are ignored:

- the paths of the checkout and of the temporary folder,
- durations of a search for a trajectory: ``seconds`` and ``first_seconds`` in JSON with six or more decimals, and the
  time at the end of ``search: 96 random starts …, 24 polished, 3.2 s``.

With ``--only``, only paragraphs that contain this word run. A line is printed for every command and for every file that
differs, with the first line that is different. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.recorded_logs import CABLE, KR300, MTM, TX40, TX40_MIN_SPEED

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
INPUTS = ("data", "robots")  # folders that are copied
COMMANDS = Path(__file__).with_suffix(".txt")
EXTENSIONS = {"tx40": TX40, "kr300": KR300, "dvrk_mtm": MTM + CABLE}  # parts that the descriptions lack
TIME_LIMIT = 300.0  # s, of one command
MAX_LINE_LENGTH = 200  # characters that are printed of a line that differs
DURATIONS = (
    (rb'("(?:first_)?seconds": )\d+\.\d{6,}', rb"\1<duration>"),
    (rb"( polished, )[\d.]+ s\b", rb"\1<duration>"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the outputs of two source trees.")
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--only", default="", metavar="WORD", help="run only paragraphs of commands with this word")
    arguments = parser.parse_args()
    paragraphs = [lines for lines in read_commands() if any(arguments.only in line for line in lines)]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(os.cpu_count()) as pool:
        named = {"base": arguments.base, "head": arguments.head}
        trees = {Path(temporary, name): tree.resolve() for name, tree in named.items()}
        for folder in trees:
            prepare(folder)
        jobs = [[pool.submit(run_paragraph, trees[folder], folder, lines) for folder in trees] for lines in paragraphs]
        count = differences = 0
        for lines, pair in zip(paragraphs, jobs, strict=True):
            for line, base, head in zip(lines, *(job.result() for job in pair), strict=True):
                count += 1
                differences += report(line, base, head)
        files = [collect_files(folder, trees[folder]) for folder in trees]
        for name in sorted({*files[0], *files[1]}):
            base, head = (each.get(name, b"missing") for each in files)
            differences += report(name, base, head) if base != head else 0
    duration = time.monotonic() - begin
    _print(f"{count} commands and {len(files[0])} files in {duration:.0f} s: {differences} differences")
    return 1 if differences else 0


def read_commands() -> list[list[str]]:
    """Return the commands, one list for each paragraph."""
    paragraphs = COMMANDS.read_text(encoding="utf-8").split("\n\n")
    return [[line for line in each.splitlines() if line and not line.startswith("#")] for each in paragraphs]


def prepare(folder: Path) -> None:
    """Copy the shared data and robots into a folder, and extend the descriptions that lack parts."""
    for name in INPUTS:
        shutil.copytree(SHARED / name, folder / name)
    for name, text in EXTENSIONS.items():
        (folder / "data" / name / "extended.toml").write_text(text, encoding="utf-8")


def run_paragraph(tree: Path, folder: Path, lines: Sequence[str]) -> list[bytes]:
    """Run commands one after the other; return for each its exit code, stdout and stderr as one text."""
    return [run_command(tree, folder, line) for line in lines]


def run_command(tree: Path, folder: Path, line: str) -> bytes:
    words = shlex.split(line.replace("TX40_MIN_SPEED", ",".join(map(str, TX40_MIN_SPEED))))
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "COLUMNS": "120", "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "ytheta", *words]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return f"ends after more than {TIME_LIMIT:g} s".encode()
    text = b"exit code %d\n%s\n--- stderr\n%s" % (done.returncode, done.stdout, done.stderr)
    return normalize(text, folder, tree)


def normalize(content: bytes, folder: Path, tree: Path) -> bytes:
    """Return an output without paths of the run and without durations."""
    for path, name in ((folder, b"<folder>"), (tree, b"<checkout>")):
        content = content.replace(os.fsencode(path), name)
    for pattern, replacement in DURATIONS:
        content = re.sub(pattern, replacement, content)
    return content


def collect_files(folder: Path, tree: Path) -> Mapping[str, bytes]:
    """Return the content of all files that the commands wrote, by their path."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: normalize(path.read_bytes(), folder, tree)
        for name, path in sorted(paths.items())
        if not name.startswith(INPUTS)
    }


def report(name: str, base: bytes, head: bytes) -> bool:
    """Print whether two outputs are the same, and otherwise the first line that differs; return whether they differ."""
    lines = [each.decode("utf-8", "replace").splitlines() for each in (base, head)]
    if base == head:
        _print(f"same, {lines[0][0]}: {name}")
        return False
    _print(f"DIFFERENT: {name}")
    k = next((k for k, pair in enumerate(zip(*lines, strict=False)) if pair[0] != pair[1]), min(map(len, lines)))
    for sign, text in zip("-+", lines, strict=True):
        _print(f"    {sign} line {k + 1}: {text[k][:MAX_LINE_LENGTH] if k < len(text) else '(end)'}")
    return True


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
