"""Valid inputs from which mutated ones are made: files of the catalog, of the tests, and of the shared folders.

They are written once, since some take seconds to make; every process of a campaign reads them from a folder.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tests.fuzz.readers import CACHE_KEY
from tests.support.arm_logs import WITH_FRICTION, identified_arm
from tests.support.array_files import name_matrices, write_hdf5, write_lerobot, write_mat, write_mat73
from tests.support.basis_cases import BASES
from tests.support.joint_state_bags import write_bag, write_ros1_bag
from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, format_csv
from tests.support.mjcf_models import GEOM, mechanism_text, spring_text, world_text
from tests.support.paths import ROOT, SHARED_DATA
from tests.support.sdf_loops import LOOPS as SDF_LOOPS
from tests.support.sdf_models import HAND as SDF_HAND
from tests.support.sdf_models import INCLUDING
from tests.support.sdf_models import MODELS as SDF_MODELS
from tests.support.toml_robots import TWO
from tests.support.urdf_arm import ARM as URDF_ARM
from tests.support.urdf_arm import FIXED_TOOL
from ytheta.excitation.trajectories import Fourier, Trajectory
from ytheta.excitation.trajectory_files import format_coefficients
from ytheta.identification.model_file import save_model
from ytheta.native import cache

MAX_SEED_SIZE = 20_000  # bytes; larger ones are slow and contain nothing new
SHARED_ROBOTS = SHARED_DATA.parent / "robots"
ROWS = 30  # of logs
PACKED: dict[str, Any] = {"compression": "gzip", "chunks": True}  # how HDF5 stores arrays
HEAD_LINES = 40  # of recorded logs
SHORT_COLUMNS = {name: values[:ROWS] for name, values in ARM_COLUMNS.items()}
SHORT_LOG = replace(ARM_LOG, t=ARM_LOG.t[:ROWS], q=ARM_LOG.q[:ROWS], qd=ARM_LOG.qd[:ROWS], tau=ARM_LOG.tau[:ROWS])  # type: ignore[index]

MAPPINGS = (
    'rate = 100.0\nrows = [0, 20]\n[columns]\nq = "q{}"\ntau = ["tau1", "tau2"]\n[scale]\nq = "deg"\n'
    "[sign]\ntau = [1, -1]\n",
    '[columns]\nt = 0\nq = [1, 2]\nqd = [3, 4]\ncurrent = [5, 6]\n[gain]\ncurrent = [0.5, "pi/2"]\n[scale]\nt = "ms"\n'
    "[offset]\nq = [0.1, -0.1]\nt = 1.0\n[motor]\nmatrix = [[1, 0.5], [0, 1]]\n",
    'topic = "/joint_states"\nskip = 2\n[scale]\ntau = 0.001\nqd = ["rpm", "rad"]\n',
)
EXPRESSIONS = (
    "-pi/2", "3*l1 - l2/2 + pi*0.25",
    "-12.5 * sin(q1) * cos(q2 + pi/4) / (1 + l1**2)",
    "sqrt(abs(q('joint 2') - 0.3)) * exp(-tanh(k)) ** 2 + sign(q1) - atan2(q1, q2)",
    "asin(0.5) + acos(-0.5) * tan(.1e-3) - -+2 ** -1",
    "-alpha",
)  # fmt: skip
LOOP = mechanism_text('<connect site1="tip" site2="end"/>')
WELD = mechanism_text(
    '<weld body1="b" body2="d" relpose="0 0 0 1 0 0 0"/><joint joint1="a2" joint2="b1" polycoef="0.1 2 0 0 0"/>',
    '<actuator><motor joint="a1" gear="10"/><position joint="c1" kp="3"/></actuator>',
)
BODIES = world_text(
    f'<body name="x" childclass="big" pos="0 0 1"><inertial pos="0 0 0.1" mass="2" diaginertia="1 1 1"/>'
    f'<joint name="j" damping="1" armature="0.1" range="-90 90"/><geom type="box" size="1 2 3" mass="2"/>'
    f'<body name="y" axisangle="0 1 0 30"><joint type="slide" axis="0 0 1"/>{GEOM}</body></body>',
    '<compiler angle="degree" eulerseq="XYZ"/><option gravity="0 0 -9.81"/><default><geom density="500"/>'
    '<default class="big"><joint frictionloss="0.5"/></default></default>',
)

COPIES = world_text(
    f'<replicate count="3" offset="0.1 0 0" euler="0 0 30" sep="-"><body name="x"><joint name="j" type="ball"/>'
    f'<geom type="mesh" mesh="m"/><body name="y" pos="0 0 1"><joint name="k"/>{GEOM}</body></body></replicate>',
    '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><tendon><fixed name="t"><joint joint="k-0" '
    'coef="2"/><joint joint="k-1" coef="-1"/></fixed></tendon><equality><tendon tendon1="t" polycoef="0.1 0 0 0 0"/>'
    '</equality><actuator><motor tendon="t"/></actuator><keyframe><key name="home" qpos="1 0 0 0 0.1"/></keyframe>',
)
FOUR_BAR = """<robot name="r"><link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="end"/>
<joint name="ja" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
<joint name="jb" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0.5 0"/><axis xyz="0 0 1"/></joint>
<joint name="jc" type="continuous"><parent link="base"/><child link="c"/><origin xyz="1 0 0"/>
<axis xyz="0 0 1"/></joint>
<joint name="je" type="fixed"><parent link="b"/><child link="end"/><origin xyz="1 0.5 0"/></joint></robot>"""
LOOP_TABLES = (
    "closed_loop: [['end', 'jc']]\ntype: ['3d']\nname_mot: ['ja']\n",
    'closed_loop:\n  [\n    ["je", "c"],\n  ]\ntype: ["6D"]\njoint_name: [jb, jc]\n'
    "joint_type: [SPHERICAL, UJOINT_ZY]\n",
)
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="n" default="2"/>
<xacro:property name="l" value="${$(arg n) * 0.5}"/><xacro:macro name="part" params="name parent"><link name="${name}"/>
<joint name="q_${name}" type="continuous"><parent link="${parent}"/><child link="${name}"/><origin xyz="0 0 ${l}"/>
<axis xyz="0 0 1"/></joint></xacro:macro><link name="base"/><xacro:part name="a" parent="base"/>
<xacro:if value="${l > 0.3}"><xacro:part name="b" parent="a"/></xacro:if></robot>"""


def write_seeds(folder: Path) -> None:
    """Write the seeds of every reader into a folder of its name."""
    folder.mkdir(exist_ok=True)
    for name, make in SEEDS.items():
        (folder / name).mkdir(parents=True)
        for k, content in enumerate(make(folder / name)):
            (folder / name / f"seed-{k}").write_bytes(content)


def _read_small(*paths: Path) -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted(paths) if path.stat().st_size <= MAX_SEED_SIZE)


def _urdf(_folder: Path) -> Iterator[bytes]:
    yield URDF_ARM.encode()
    yield URDF_ARM.replace("</robot>", FIXED_TOOL + "</robot>").encode()
    yield from _read_small(*SHARED_DATA.glob("*/*.urdf"), *SHARED_ROBOTS.glob("gepetto/*/robot.urdf"))


def _mjcf(_folder: Path) -> Iterator[bytes]:
    yield LOOP.encode()
    yield WELD.encode()
    yield BODIES.encode()
    yield spring_text('<joint name="s" stiffness="3" springref="0.2"/>').encode()
    yield COPIES.encode()
    yield from _read_small(*SHARED_ROBOTS.glob("menagerie/*/*.xml"))


def _sdf(folder: Path) -> Iterator[bytes]:
    (folder / "models").mkdir()
    (folder / "models" / "hand.sdf").write_text(SDF_HAND)
    texts = (*SDF_MODELS.values(), *SDF_LOOPS.values(), *INCLUDING.values())
    yield from (text.replace("model://hand/model.sdf", "hand.sdf").encode() for text in texts)


def _loops(folder: Path) -> Iterator[bytes]:
    (folder / "tree").mkdir()
    (folder / "tree" / "robot.urdf").write_text(FOUR_BAR)
    yield from (table.encode() for table in LOOP_TABLES)


def _robot_toml(_folder: Path) -> Iterator[bytes]:
    yield TWO.encode()
    yield WITH_FRICTION.encode()
    yield from _read_small(*(ROOT / "src/ytheta/robot/catalog").glob("*.toml"))


def _model(folder: Path) -> Iterator[bytes]:
    work = folder.parent / "work"
    work.mkdir(exist_ok=True)
    if (work / "arm.model.toml").exists():  # identified for another reader
        yield (work / "arm.model.toml").read_bytes()
        return
    yield save_model(identified_arm(work)[0], work / "arm.model.toml").read_bytes()


def _trajectory(_folder: Path) -> Iterator[bytes]:
    for basis in BASES.values():
        coefficients = np.zeros((basis.size, 2))  # a file is accepted only if its motion starts at rest
        coefficients[0 if isinstance(basis, Fourier) else slice(None)] = 0.3, -0.2
        yield format_coefficients(Trajectory(("joint1", "joint2"), basis, 2, coefficients)).encode()


def _csv(_folder: Path) -> Iterator[bytes]:
    text = format_csv(SHORT_COLUMNS)
    yield text.encode()
    yield format_csv(SHORT_COLUMNS, separator=";", decimal=",").encode()
    yield format_csv(SHORT_COLUMNS, separator="\t").encode("utf-16")
    yield format_csv(SHORT_COLUMNS, separator=" ", header=False).encode()
    yield ("# a comment\n" + text.replace(",", ' , "', 3).replace("\n", '"\r\n', 1)).encode()
    for path in sorted(SHARED_DATA.glob("ur10e/dirty/*.csv")):
        with path.open("rb") as file:
            yield b"".join(file.readline() for _ in range(HEAD_LINES))


def _npz(_folder: Path) -> Iterator[bytes]:
    log = SHORT_LOG
    for save, columns in (
        (np.savez, SHORT_COLUMNS),
        (np.savez_compressed, {"t": log.t, "q": log.q, "tau": np.asfortranarray(log.tau), "about": np.array("a text")}),
    ):
        file = io.BytesIO()
        save(file, allow_pickle=False, **columns)
        yield file.getvalue()


def _parquet(_folder: Path) -> Iterator[bytes]:
    frame = pl.DataFrame(SHORT_COLUMNS)
    mixed = frame.with_columns(
        pl.col("q1").cast(pl.Float32), pl.lit(1).alias("state"), pl.lit("text").alias("mode"), pl.col("tau1") > 0.0
    )
    for table, compression, rows in ((frame, "uncompressed", None), (frame, "zstd", 10), (mixed, "snappy", None),
                                     (mixed, "lz4", 7), (mixed, "gzip", None)):  # fmt: skip
        file = io.BytesIO()
        table.write_parquet(file, compression=compression, row_group_size=rows)  # type: ignore[arg-type]
        yield file.getvalue()


def _bag(storage: str, pattern: str) -> Callable[[Path], Iterator[bytes]]:
    def make(folder: Path) -> Iterator[bytes]:
        bag = write_bag(folder / "bag", storage, SHORT_LOG, names=["gripper", *ARM.actuated])
        yield next(bag.glob(pattern)).read_bytes()

    return make


def _ros1(folder: Path) -> Iterator[bytes]:
    for compression in (None, "BZ2", "LZ4"):
        path = folder / "log.bag"
        path.unlink(missing_ok=True)
        yield write_ros1_bag(path, SHORT_LOG, names=["gripper", *ARM.actuated], compression=compression).read_bytes()


def _echo(_folder: Path) -> Iterator[bytes]:
    names = ["gripper", *ARM.actuated]
    lines = []
    for k in range(ROWS):
        rows = [[0.5, *values[k].tolist()] for values in (SHORT_LOG.q, SHORT_LOG.qd, SHORT_LOG.tau)]  # type: ignore[index]
        lines.append(",".join([f"1600000000,{10_000_000 * k},base", *names, *(repr(x) for row in rows for x in row)]))
    yield "\n".join([*lines, ""]).encode()


def _jsonl(_folder: Path) -> Iterator[bytes]:
    names, matrices = list(ARM.actuated), name_matrices(SHORT_LOG)
    lists = [{name: values[k].tolist() for name, values in matrices.items()} for k in range(ROWS)]
    messages = [
        {
            "header": {"stamp": {"sec": 5, "nanosec": 10_000_000 * k}, "frame_id": ""},
            "name": names,
            "position": lists[k]["q"],
            "effort": lists[k]["tau"],
        }
        for k in range(ROWS)
    ]
    for records in (lists, [{"time": row["t"], "state": row} for row in lists], messages):
        yield "".join(json.dumps(record) + "\n" for record in records).encode()


def _hdf5(folder: Path) -> Iterator[bytes]:
    matrices, path = name_matrices(SHORT_LOG), folder / "log.h5"
    yield write_hdf5(path, matrices).read_bytes()
    yield write_hdf5(path, {f"run/{name}": values for name, values in matrices.items()}, **PACKED).read_bytes()


def _mat(folder: Path) -> Iterator[bytes]:
    matrices, path = name_matrices(SHORT_LOG), folder / "log.mat"
    yield write_mat(path, matrices).read_bytes()
    yield write_mat(path, {"run": {"arm": matrices, "note": "a text"}}, compressed=True).read_bytes()


def _mat73(folder: Path) -> Iterator[bytes]:
    yield write_mat73(folder / "log.mat", name_matrices(SHORT_LOG)).read_bytes()


def _dataset(pattern: str) -> Callable[[Path], Iterator[bytes]]:
    """Seeds of one file of a LeRobot dataset; the other one is a file beside them."""

    def make(folder: Path) -> Iterator[bytes]:
        names, times, episodes = list(ARM.actuated), np.tile(np.arange(ROWS // 2) / 100.0, 2), np.arange(ROWS) // 15
        features = {"observation.state": (SHORT_LOG.q, names), "observation.effort": (SHORT_LOG.tau, names)}
        dataset = write_lerobot(folder / "dataset", features, times, episodes)  # type: ignore[arg-type]
        (folder / "files").mkdir()
        for path in (dataset / "meta/info.json", dataset / "data/chunk-000/file-000.parquet"):
            if path.match(pattern):
                yield path.read_bytes()
            else:
                (folder / "files" / path.name).write_bytes(path.read_bytes())

    return make


def _texts(*texts: str) -> Callable[[Path], Iterator[bytes]]:
    return lambda _folder: (text.encode() for text in texts)


def _own_files(folder: Path) -> Iterator[bytes]:
    yield from _npz(folder)
    yield from _parquet(folder)


def _cache(_folder: Path) -> Iterator[bytes]:
    cache.write(CACHE_KEY, b"machine code", "fuzz")
    path = cache.make_cache_path(CACHE_KEY, "fuzz")
    yield path.read_bytes()
    path.unlink()


SEEDS: dict[str, Callable[[Path], Iterator[bytes]]] = {
    "expression": _texts(*EXPRESSIONS),
    "mapping": _texts(*MAPPINGS),
    "csv": _csv,
    "npz": _npz,
    "parquet": _parquet,
    "mcap": _bag("MCAP", "*.mcap"),
    "db3": _bag("SQLITE3", "*.db3"),
    "bag": _bag("SQLITE3", "metadata.yaml"),
    "ros1": _ros1,
    "echo": _echo,
    "jsonl": _jsonl,
    "hdf5": _hdf5,
    "mat": _mat,
    "mat73": _mat73,
    "lerobot": _dataset("*.json"),
    "episodes": _dataset("*.parquet"),
    "reference": _csv,
    "urdf": _urdf,
    "loops": _loops,
    "xacro": _texts(XACRO),
    "mjcf": _mjcf,
    "sdf": _sdf,
    "toml": _robot_toml,
    "model": _model,
    "predict": _model,
    "trajectory": _trajectory,
    "output": _own_files,
    "cache": _cache,
}


if __name__ == "__main__":
    write_seeds(Path(sys.argv[1]))
