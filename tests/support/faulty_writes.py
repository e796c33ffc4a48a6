"""Every writer of files, run in processes that are killed or find a full disk, at every stage of writing.

``python -m tests.support.faulty_writes FOLDER`` prints one JSON object per attempt. Each attempt is a fork of the same
process, so that hundreds of them take seconds. A limit on the size of files stands for both faults: the system kills a
process that writes beyond it (SIGXFSZ), or refuses to write if the process ignores the signal.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

OLD = b"what was there before"
KILLED, REFUSED = "killed", "refused"
STAGES = ("fsync", "replace", "replaced")  # at which a process is killed, beside those in which it writes
CACHE_KEY = b"k" * 32


@dataclass(frozen=True)
class Attempt:
    """What became of a file.

    ``fault``: killed or refused; ``stage``: the number of bytes or the function at which it happened; ``outcome``: how
    the process ended; ``content``: old, new or neither; ``left``: other files in the folder; ``next``: the content
    after the next process wrote the same file without a fault; ``left_by_next``: other files in the folder then.
    """

    writer: str
    fault: str
    stage: str
    outcome: str
    content: str
    left: tuple[str, ...]
    next: str
    left_by_next: tuple[str, ...]


def make_writers(folder: Path) -> dict[str, Callable[[Path], object]]:
    """Return all writers by file name, and two that are not atomic, as twins."""
    import numpy as np
    import polars as pl

    import ytheta as yt
    from tests.support.arm_logs import true_arm, write_log
    from ytheta.native import cache
    from ytheta.report.html_page import write_page
    from ytheta.report.identification_page import identification_html

    robot = true_arm(folder)
    path = write_log(folder / "run.npz", robot)
    with np.load(path) as arrays:
        log = yt.Log(robot.actuated, arrays["t"], arrays["q"], arrays["tau"], source="run")
    identification, prediction = yt.identify(robot, log, threads=1), yt.predict(robot, log)
    page = identification_html(identification)
    payload = bytes(range(256)) * 200
    return {
        "model.toml": identification.save,
        "robot.toml": lambda file: yt.save_robot(robot, file),
        "page.html": lambda file: write_page(file, lambda: page),
        "log.csv": lambda file: yt.write_log(log, file),
        "log.parquet": lambda file: yt.write_log(log, file),
        "log.npz": lambda file: yt.write_log(log, file),
        "torques.csv": prediction.save,
        "torques.parquet": prediction.save,
        f"{CACHE_KEY.hex()}.o": lambda _: cache.write(CACHE_KEY, payload),
        "plain.bin": lambda file: file.write_bytes(payload),
        "plain.parquet": lambda file: pl.DataFrame({"x": log.t}).write_parquet(file),
    }


def fork(work: Callable[[], object]) -> str:
    """Run work in a new process; return "done", the error, or the name of the signal that ended the process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        message = "done"
        try:
            work()
        except BaseException as error:
            message = f"{type(error).__name__}: {error}"
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.write(writing, message.encode()[:4000])
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        message = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else message


def limit_size(size: int, *, killed: bool) -> None:
    """Let no file grow beyond a size. Only the soft limit is set, so that it can be removed."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def kill_at(stage: str) -> None:
    """Let this process be killed when it calls a function of the operating system, or after it did."""
    name = "replace" if stage == "replaced" else stage
    function: Callable[..., Any] = getattr(os, name)

    def call(*arguments: Any) -> None:
        if stage == "replaced":
            function(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(os, name, call)


def attempt_all(folder: Path) -> list[Attempt]:
    """Try every writer with every fault."""
    work = folder / "work"
    work.mkdir(mode=0o700)
    attempts, writers = [], make_writers(folder)
    os.environ["YTHETA_CACHE"] = str(work)
    for name, write in writers.items():
        path = work / name
        assert fork(lambda write=write, path=path: write(path)) == "done"  # type: ignore[misc]
        new = path.read_bytes()
        faults: list[tuple[str, str, Callable[[], None]]] = [
            *((KILLED, stage, lambda stage=stage: kill_at(stage)) for stage in STAGES),
            *(
                (fault, str(size), lambda size=size, fault=fault: limit_size(size, killed=fault == KILLED))
                for fault in (KILLED, REFUSED)
                for size in (0, len(new) // 2, len(new) - 1)
            ),
        ]
        for fault, stage, arrange in faults:
            path.write_bytes(OLD)
            path.chmod(0o600)
            outcome = fork(lambda: (arrange(), write(path)))  # noqa: B023
            content, left = _describe(path, new), _list_others(path)
            fork(lambda: write(path))  # noqa: B023
            attempts.append(
                Attempt(name, fault, stage, outcome, content, left, _describe(path, new), _list_others(path))
            )
        path.unlink()
    return attempts


def _describe(path: Path, new: bytes) -> str:
    content = path.read_bytes() if path.exists() else b""
    return {OLD: "old", new: "new"}.get(content, "neither")


def _list_others(path: Path) -> tuple[str, ...]:
    return tuple(sorted(entry.name for entry in path.parent.iterdir() if entry != path))


if __name__ == "__main__":
    sys.stdout.write(json.dumps([asdict(attempt) for attempt in attempt_all(Path(sys.argv[1]))]))
