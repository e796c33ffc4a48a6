"""The readers of files from outside, each with the mutations of its format."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from unittest import mock

import numpy as np

from tests.fuzz.archives import mutate_npz, mutate_parquet
from tests.fuzz.mutation import Mutation, mutate_bytes, mutate_text, mutate_xml
from tests.fuzz.structures import mutate_hdf5, mutate_mat, mutate_table, mutate_toml, mutate_yaml
from ytheta.errors import YthetaError
from ytheta.excitation.trajectory_files import load_trajectory
from ytheta.files.atomic import is_own_file
from ytheta.files.expressions import parse_expression
from ytheta.files.symbols import parse_angle, parse_scalar
from ytheta.identification.model_file import read_model
from ytheta.identification.predict import predict
from ytheta.logs.reading.formats.bag import read_bag
from ytheta.logs.reading.mapping import read_mapping
from ytheta.logs.reading.read import read_log
from ytheta.native import cache as kernel_cache
from ytheta.robot.reading.load import load
from ytheta.robot.robot import Robot
from ytheta.simulation.logged_reference import reference_from_log

Read = Callable[[Path], object]

CACHE_KEY = kernel_cache.make_key("a graph")


@dataclass(frozen=True)
class Reader:
    """A reader, how its inputs are made, and how many a long run tries.

    ``file``: the name that an input gets. ``seed_files``: patterns of other files beside the seeds that it needs.
    """

    name: str
    file: str
    mutate: Mutation
    read: Read
    count: int
    seed_files: str | None = None

    def make_input(self, seeds: Sequence[bytes], seed: int, number: int) -> bytes:
        """Return an input; the same numbers give the same input."""
        rng = Random(f"{seed}:{self.name}:{number}")
        return self.mutate(rng, rng.choice(seeds), seeds)


@cache
def _load_arm() -> Robot:
    return load("lu-two-link")


def _read_log(path: Path) -> object:
    return read_log(path, _load_arm())


def _read_bag(path: Path) -> object:
    """Read a bag in this process: a child process would be slow, and would hide what the reader cannot catch."""
    with mock.patch("ytheta.logs.reading.formats.bag.read_isolated_bag", read_bag):
        return _read_log(path)


def _read_bag_folder(path: Path) -> object:
    return _read_bag(path.parent)


def _read_dataset(path: Path) -> object:
    """Read a LeRobot dataset, of which one file is the input."""
    folder = path.parent / "dataset"
    shutil.rmtree(folder, ignore_errors=True)
    for name, place in (("info.json", "meta"), ("file-000.parquet", "data/chunk-000")):
        (folder / place).mkdir(parents=True)
        shutil.copy(path.parent / name, folder / place / name)
    return read_log(folder, _load_arm())


def _read_reference(path: Path) -> object:
    reference = reference_from_log(read_log(path, _load_arm()))
    return reference(np.linspace(0.0, reference.seconds, 5))


def _predict(path: Path) -> object:
    """Read a model, show it, and predict the torques of a log with it."""
    model = read_model(path)
    str(model)
    model.to_dict()
    t = np.linspace(0.0, 3.0, 100)
    q, tau = np.stack([np.sin(t), np.cos(t)], axis=1), np.stack([t, t**2], axis=1)
    return predict(path, {"t": t, "q": q, "tau": tau}, threads=1)


def _read_robot(path: Path) -> object:
    return load(path, fix_base=True)


def _read_parallel_robot(path: Path) -> object:
    return load(path.parent)


def _parse_expression(path: Path) -> object:
    """Parse a text as a force, as a length and as an angle, and evaluate it; one of them may accept it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    refusals: list[YthetaError] = []
    parsers = (_evaluate, _parse_length, _parse_angle)
    for parse in parsers:
        try:
            parse(text)
        except YthetaError as error:
            refusals.append(error)
    if len(refusals) == len(parsers):
        raise refusals[0]
    return None


def _evaluate(text: str) -> None:
    expression = parse_expression(text)
    for value in (0.0, 0.5, np.array([-1e6, 0.0, 1e300])):
        expression.evaluate(dict.fromkeys(expression.names, value), dict.fromkeys(expression.positions, value))


def _parse_length(text: str) -> None:
    parse_scalar(text, frozenset({"l1", "l2", "k"}))


def _parse_angle(text: str) -> None:
    parse_angle(text, frozenset({"alpha"}), frozenset({"l1"}))


def _recognize_output(path: Path) -> object:
    for suffix in (".npz", ".parquet", ".toml", ".html"):
        is_own_file(path.rename(path.with_suffix(suffix)))
        path = path.with_suffix(suffix)
    return None


def _read_cache(path: Path) -> object:
    """Read a file of the cache of kernels: what comes out is what was stored, or nothing."""
    os.environ["YTHETA_CACHE"] = str(path.parent)
    path.chmod(0o600)
    path.rename(kernel_cache.make_cache_path(CACHE_KEY, "fuzz"))
    if kernel_cache.read(CACHE_KEY, "fuzz") not in (None, b"machine code"):
        raise AssertionError("a damaged file of the cache was used")
    return None


CHEAP, COSTLY = 100_000, 20_000  # numbers of inputs of a long run
ISOLATED, SLOW = 4_000, 1_000  # … if every input starts a process, a quick or a slow one
ALL = (
    Reader("expression", "text.txt", mutate_text, _parse_expression, CHEAP),
    Reader("mapping", "mapping.toml", mutate_toml, read_mapping, CHEAP),
    Reader("csv", "log.csv", mutate_table, _read_log, CHEAP),
    Reader("npz", "log.npz", mutate_npz, _read_log, CHEAP),
    Reader("parquet", "log.parquet", mutate_parquet, _read_log, CHEAP),
    Reader("mcap", "log.mcap", mutate_bytes, _read_bag, COSTLY),
    Reader("db3", "log.db3", mutate_bytes, _read_bag, COSTLY),
    Reader("bag", "metadata.yaml", mutate_yaml, _read_bag_folder, COSTLY, seed_files="bag/*.db3"),
    Reader("ros1", "log.bag", mutate_bytes, _read_log, COSTLY),
    Reader("echo", "log.csv", mutate_table, _read_log, CHEAP),
    Reader("jsonl", "log.jsonl", mutate_text, _read_log, CHEAP),
    Reader("hdf5", "log.h5", mutate_hdf5, _read_log, ISOLATED),
    Reader("mat", "log.mat", mutate_mat, _read_log, ISOLATED),
    Reader("mat73", "log.mat", mutate_hdf5, _read_log, ISOLATED),
    Reader("lerobot", "info.json", mutate_text, _read_dataset, COSTLY, seed_files="files/*.parquet"),
    Reader("episodes", "file-000.parquet", mutate_parquet, _read_dataset, COSTLY, seed_files="files/*.json"),
    Reader("reference", "log.csv", mutate_text, _read_reference, COSTLY),
    Reader("urdf", "robot.urdf", mutate_xml, _read_robot, CHEAP),
    Reader("mjcf", "robot.xml", mutate_xml, _read_robot, COSTLY),
    Reader("sdf", "robot.sdf", mutate_xml, _read_robot, COSTLY, seed_files="models/*.sdf"),
    Reader("toml", "robot.toml", mutate_toml, _read_robot, COSTLY),
    Reader("loops", "robot.yaml", mutate_yaml, _read_parallel_robot, COSTLY, seed_files="tree/robot.urdf"),
    Reader("xacro", "robot.urdf.xacro", mutate_xml, _read_robot, SLOW),
    Reader("model", "model.toml", mutate_toml, read_model, COSTLY),
    Reader("predict", "model.toml", mutate_toml, _predict, COSTLY),
    Reader("trajectory", "motion.toml", mutate_toml, load_trajectory, CHEAP),
    Reader("output", "file.npz", mutate_bytes, _recognize_output, CHEAP),
    Reader("cache", "file", mutate_bytes, _read_cache, CHEAP),
)
READERS = {reader.name: reader for reader in ALL}


def read_seeds(folder: Path, reader: Reader) -> list[bytes]:
    """Return the seeds of a reader, from the folder of all seeds."""
    paths = sorted((folder / reader.name).glob("seed-*"), key=lambda path: int(path.name.removeprefix("seed-")))
    return [path.read_bytes() for path in paths]


def lay_out(reader: Reader, seeds: Path, folder: Path) -> Path:
    """Put the files that a reader needs beside its input into an empty folder; return the path of the input."""
    folder.mkdir(mode=0o700)
    for path in (seeds / reader.name).glob(reader.seed_files) if reader.seed_files else ():
        shutil.copy(path, folder)
    return folder / reader.file
