"""Run the tests of each module with one mutation at a time, and print which mutants they do not notice.

    python -m tools.mutation [MODULE …] [--count 15] [--seed 0] [--json FILE] [--again]

A mutant is killed if a test fails, the process crashes, or the tests need three times as long as without it. A module
whose tests fail without a mutation is left out. The working tree is copied first and never written to. Every mutant
runs in a fork of this process, which has imported the large libraries but nothing of ytheta. It has its own folder of
compiled kernels. There it finds the object code of the clean run, whose key is its content, and nothing that another
mutant wrote.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NoReturn, TypedDict

import pytest
from hypothesis import Phase, settings

from tools.mutation.mutants import Mutant, draw_mutants, list_mutants
from tools.mutation.targets import TARGETS

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "examples", "benchmarks", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")
LARGE_LIBRARIES = ("casadi", "jaxtyping", "beartype", "llvmlite.binding", "mujoco", "numpy", "pinocchio",
                   "polars", "scipy.optimize", "scipy.signal", "sympy")  # fmt: skip
# Plug-ins are imported before the tests start, which only means that their assertions are less detailed.
PYTEST = ("-x", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "-W", "ignore::pytest.PytestAssertRewriteWarning")
# Bounds of a mutant's run: ratio of its processor time to that of the clean run, seconds added to it, and ratio of the
# time on the clock to the bound of the processor time.
MAX_TIME_RATIO, EXTRA_SECONDS, MAX_WAIT_RATIO = 3.0, 5.0, 20.0


class Survivor(TypedDict):
    """A mutant that no test noticed: its line in the source, and this line before and after the change."""

    line: int
    kind: str
    before: str
    after: str


class Result(TypedDict):
    """What became of the mutants of one module."""

    tried: int
    killed: int
    survivors: list[Survivor]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="paths below src/ytheta, or parts of them; default: all targets")
    parser.add_argument("--count", type=int, default=15, help="mutants per module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="file for the results; results of other modules in it are kept")
    parser.add_argument("--again", action="store_true", help="try only the survivors in the file of results")
    options = parser.parse_args()
    results: dict[str, Result] = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    chosen = [name for name in TARGETS if not options.modules or any(part in name for part in options.modules)]
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        runner = Runner(Path(folder))
        for name in chosen:
            source = runner.read_source(name)
            if options.again:
                former = [(s["before"], s["after"]) for s in results[name]["survivors"]] if name in results else []
                mutants = [mutant for mutant in list_mutants(source) if mutant.describe(source)[1:] in former]
                tried = results[name]["tried"] if name in results else 0
            else:
                mutants = draw_mutants(source, options.count, f"{options.seed}:{name}")
                tried = len(mutants)
            survivors = runner.find_survivors(name, mutants)
            if survivors is None:
                continue
            results[name] = {"tried": tried, "killed": tried - len(survivors), "survivors": survivors}
            _print(f"{name}: {tried - len(survivors)} of {tried} killed")
            if options.json:
                options.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _print_totals(results)
    return 0


class Schedule:
    """A plug-in of pytest: the fastest tests and those that killed other mutants come first; nothing is shrunk."""

    def __init__(self, file: Path) -> None:
        self.file, self.seconds = file, dict[str, float]()

    def read(self) -> None:
        """Take over what the child has written: the durations of its tests, and those that failed."""
        for name, seconds, outcome in (line.rsplit(" ", 2) for line in self.file.read_text().splitlines()):
            known = self.seconds.get(name, float(seconds))
            self.seconds[name] = known / 4.0 if outcome == "failed" else known
        self.file.unlink()

    def pytest_sessionstart(self) -> None:
        settings.register_profile("mutation", settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.seconds.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            with self.file.open("a") as file:
                file.write(f"{report.nodeid} {report.duration:.4f} {report.outcome}\n")


class Runner:
    """A copy of the working tree, in which mutants are tested."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.cache, self.mutant_cache = folder / "main", folder / "kernels", folder / "mutant"
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.tree / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, self.tree / name)
        (folder / "shared").symlink_to(ROOT.parent / "shared")  # data that lie beside the checkout
        self.cache.mkdir()
        os.environ |= {"PYTHONPATH": str(self.tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
        sys.path[:0] = [str(self.tree), str(self.tree / "src")]
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.chdir(self.tree)
        for name in LARGE_LIBRARIES:
            __import__(name)

    def read_source(self, name: str) -> str:
        """Return the source of a module without a mutation."""
        return (self.tree / "src" / "ytheta" / name).read_text(encoding="utf-8")

    def find_survivors(self, name: str, mutants: list[Mutant]) -> list[Survivor] | None:
        """Run the tests of a module with each of its mutants; return those that no test noticed.

        Return None if the tests fail without a mutation.
        """
        if not mutants:
            return []
        path, source = self.tree / "src" / "ytheta" / name, self.read_source(name)
        tests = _list_tests(self.tree / "tests", name)
        schedule = Schedule(self.tree.with_name("durations"))
        code, clean_seconds = self._run(tests, self.cache, schedule, 3600.0)
        if code != 0:
            _print(
                f"{name}: the tests fail without a mutation", *self.cache.with_suffix(".txt").read_text().splitlines()
            )
            return None
        survivors: list[Survivor] = []
        for k, mutant in enumerate(mutants):
            path.write_text(mutant.apply(source), encoding="utf-8")
            os.utime(path, (k, k))  # another time than that of the compiled file, which is then not used
            self._prepare_cache(name)
            code, _ = self._run(tests, self.mutant_cache, schedule, MAX_TIME_RATIO * clean_seconds + EXTRA_SECONDS)
            if code == 0:
                line, before, after = mutant.describe(source)
                survivors.append({"line": line, "kind": mutant.kind, "before": before, "after": after})
                _print(f"{name}:{line}: - {before}", f"+ {after}")
        path.write_text(source, encoding="utf-8")
        return survivors

    def _prepare_cache(self, name: str) -> None:
        """Give the next mutant a folder with the object code of the clean run, unless it changes the compiler."""
        shutil.rmtree(self.mutant_cache, ignore_errors=True)
        self.mutant_cache.mkdir(mode=0o700)
        if not name.startswith("native/"):
            for file in self.cache.glob("*.o"):
                os.link(file, self.mutant_cache / file.name)

    def _run(self, tests: list[str], cache: Path, schedule: Schedule, max_seconds: float) -> tuple[int, float]:
        """Run tests in a fork; return the exit code, negative for a signal, and the processor time."""
        schedule.file.touch()
        child = os.fork()
        if child == 0:
            _run_tests(tests, cache, schedule, math.ceil(max_seconds), write_bytecode=cache == self.cache)
        deadline = time.monotonic() + MAX_WAIT_RATIO * max_seconds
        done = 0
        while not done:
            time.sleep(0.02)
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
            done, status, usage = os.wait4(child, os.WNOHANG)
        schedule.read()
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def _run_tests(
    tests: list[str], cache: Path, schedule: Schedule, max_seconds: int, *, write_bytecode: bool
) -> NoReturn:
    """Run in the child, which ends here."""
    code = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (max_seconds, max_seconds))
        output = os.open(cache.with_suffix(".txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.environ["YTHETA_CACHE"] = str(cache)
        sys.dont_write_bytecode = not write_bytecode
        code = int(pytest.main([*PYTEST, *tests], plugins=[schedule]))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _list_tests(tests: Path, name: str) -> list[str]:
    """Return the mirrored test file, if there is one, then the others of the table."""
    module = Path(name)
    mirrored = module.with_name(f"test_{module.name}")
    paths = [str(mirrored)] if (tests / mirrored).is_file() else []
    return [f"tests/{path}" for path in dict.fromkeys([*paths, *TARGETS[name]])]


def _print_totals(results: dict[str, Result]) -> None:
    tried: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    for name, result in results.items():
        for package in (name.partition("/")[0], "all"):
            tried[package] += result["tried"]
            killed[package] += result["killed"]
    for package, count in tried.items():
        _print(f"{package}: {killed[package]} of {count} killed")


def _print(*lines: str) -> None:
    sys.stdout.write("\n    ".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
