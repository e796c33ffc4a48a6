"""A short campaign over all readers, and campaigns that must notice every kind of failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.campaign import run_campaign
from tests.fuzz.outcomes import Outcome
from tests.fuzz.readers import READERS, read_seeds
from tests.support.paths import ROOT
from ytheta.errors import YthetaError

# Of the slow readers, and of one that refuses five of six inputs: with 80, fewer than two accepted are no accident.
INPUTS = {"mcap": 20, "db3": 20, "bag": 20, "predict": 80, "hdf5": 10, "mat": 10, "mat73": 10}
MIN_ACCEPTED = 2  # a mutation that every reader refuses at once tests nothing


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    # In a process of its own, in which shapes and types are not checked: this takes a third of the time.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-m", "tests.fuzz.seeds", str(folder)], cwd=ROOT, env=environment, check=True)
    return folder


def test_readers_let_nothing_foreign_out(seeds: Path) -> None:
    """Inputs with fixed seeds, the same in every run; ``make fuzz`` tries many more."""
    tally = run_campaign([(name, 1, 0, INPUTS.get(name, 40)) for name in READERS], seeds)
    assert not tally.has_failed, tally.format_table()
    for name in READERS:
        assert tally.counts[name].total() == INPUTS.get(name, 40)
        assert tally.counts[name][Outcome.ACCEPTED] >= MIN_ACCEPTED, tally.format_table()


@pytest.mark.parametrize("name", READERS)
def test_most_seeds_are_accepted(name: str, seeds: Path, tmp_path: Path) -> None:
    """Some of the shared robots have joints or meshes that are refused."""
    reader, accepted = READERS[name], 0
    contents = read_seeds(seeds, reader)
    for k, content in enumerate(contents):
        path = tmp_path / str(k) / reader.file
        path.parent.mkdir(mode=0o700)
        for file in (seeds / name).glob(reader.seed_files) if reader.seed_files else ():
            (path.parent / file.name).write_bytes(file.read_bytes())
        path.write_bytes(content)
        try:
            reader.read(path)
            accepted += 1
        except YthetaError:
            assert k > 0, "the first seed must be accepted"
    assert 4 * accepted >= len(contents)


def test_inputs_are_reproducible(seeds: Path) -> None:
    reader = READERS["urdf"]
    contents = read_seeds(seeds, reader)
    inputs = [reader.make_input(contents, 1, number) for number in range(30)]
    assert inputs == [reader.make_input(contents, 1, number) for number in range(30)]
    assert inputs != [reader.make_input(contents, 2, number) for number in range(30)]
    assert len(set(inputs)) > 25


def test_every_kind_of_failure_is_noticed(seeds: Path) -> None:
    """The twin: a worker whose readers fail in every way. A failure costs one input, and the others are read."""
    outcomes = (Outcome.FOREIGN, Outcome.SLOW, Outcome.LARGE, Outcome.DEAD, Outcome.ACCEPTED, Outcome.REFUSED)
    tally = run_campaign(
        [("failing", 0, 0, len(outcomes))], seeds, max_silent_seconds=1.0, module="tests.fuzz.failing_worker"
    )
    assert [tally.counts["failing"][outcome] for outcome in outcomes] == [1] * len(outcomes)
    assert [failure.number for failure in tally.failures] == [0, 1, 2, 3]
    assert tally.restarts == {"failing": 1}  # between the inputs 4 and 5
    assert tally.has_failed


def test_workers_that_cannot_start_end_the_campaign(seeds: Path) -> None:
    with pytest.raises(RuntimeError, match=r"no worker reaches its first input; .*python -m tests\.fuzz\.none"):
        run_campaign([("mapping", 0, 0, 10)], seeds, module="tests.fuzz.none")


def test_a_campaign_ends_in_time(seeds: Path) -> None:
    tally = run_campaign([("mapping", 0, 0, 10**6)], seeds, max_seconds=1.5)
    assert 0 < tally.counts["mapping"].total() < 10**6
