"""Every writer, killed or without space at every stage: files stay whole, and the next process cleans up."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.faulty_writes import CACHE_KEY, KILLED, REFUSED, Attempt
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forks")
CACHE_FILE = f"{CACHE_KEY.hex()}.o"
ATOMIC = (
    "model.toml",
    "robot.toml",
    "page.html",
    "log.csv",
    "log.parquet",
    "log.npz",
    "torques.csv",
    "torques.parquet",
    CACHE_FILE,
)
NOT_ATOMIC = ("plain.bin", "plain.parquet")


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> list[Attempt]:
    command = [sys.executable, "-m", "tests.support.faulty_writes", str(tmp_path_factory.mktemp("writers"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [Attempt(**fields) for fields in json.loads(done.stdout)]


def test_every_writer_is_tried(attempts: list[Attempt]) -> None:
    assert {attempt.writer for attempt in attempts} == {*ATOMIC, *NOT_ATOMIC}


@pytest.mark.parametrize("writer", ATOMIC)
def test_a_killed_process_leaves_a_whole_file_and_the_next_one_cleans_up(writer: str, attempts: list[Attempt]) -> None:
    killed = [attempt for attempt in attempts if attempt.writer == writer and attempt.fault == KILLED]
    signals = {attempt.stage: attempt.outcome for attempt in killed}
    if writer == CACHE_FILE:  # it can be made again, so it is not forced to the disk
        assert signals.pop("fsync") == "done"
    assert set(signals.values()) == {"SIGKILL", "SIGXFSZ"}, signals
    for attempt in killed:
        expected = "new" if attempt.stage == "replaced" or attempt.outcome == "done" else "old"
        assert attempt.content == expected, attempt
        assert (len(attempt.left) == 1) == (expected == "old"), attempt  # the temporary file that a killed process left
        assert (attempt.next, list(attempt.left_by_next)) == ("new", []), attempt


@pytest.mark.parametrize("writer", ATOMIC)
def test_a_full_disk_is_one_sentence_and_the_old_file_stays(writer: str, attempts: list[Attempt]) -> None:
    refused = [attempt for attempt in attempts if attempt.writer == writer and attempt.fault == REFUSED]
    assert len(refused) == 3
    for attempt in refused:
        if writer == CACHE_FILE:  # a cache that cannot be written is not an error
            assert attempt.outcome == "done"
        else:
            assert attempt.outcome.startswith("InputError: "), attempt
            assert attempt.outcome.endswith(
                "cannot be written: File too large; free some space, or choose another place"
            )
        assert (attempt.content, list(attempt.left)) == ("old", []), attempt
        assert (attempt.next, list(attempt.left_by_next)) == ("new", []), attempt


@pytest.mark.parametrize("writer", NOT_ATOMIC)
def test_plain_writes_would_leave_half_a_file(writer: str, attempts: list[Attempt]) -> None:
    """The twin of both tests."""
    tried = [attempt for attempt in attempts if attempt.writer == writer and attempt.stage.isdecimal()]
    assert [attempt.content for attempt in tried] == ["neither"] * 6
