"""Logs from files: every format and dialect gives the same numbers back, real logs are read, bad ones are refused."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ytheta
from tests.support.log_files import kinds, made_log, shared_robot
from ytheta.errors import InputError, MissingExtraError
from ytheta.findings import Severity
from ytheta.logs.log import Log
from ytheta.logs.reading.mapping import read_mapping
from ytheta.logs.reading.read import read_log
from ytheta.logs.write import write_log
from ytheta.robot.robot import Robot

ROBOT = ytheta.load("lu-two-link")

# --- made logs, also for test_log_check ------------------------------------------------------------------------------


def table(log: Log) -> dict[str, np.ndarray]:
    """A log as the columns t, q1 …, qd1 …, tau1 …"""
    columns = {"t": log.t}
    for name, values in (("q", log.q), ("qd", log.qd), ("tau", log.tau)):
        if values is not None:
            columns |= {f"{name}{k + 1}": values[:, k] for k in range(values.shape[1])}
    return columns


def text(columns: dict[str, np.ndarray], *, separator: str = ",", header: bool = True, decimal: str = ".") -> str:
    """Columns as a text file with all digits, so that reading it gives the same numbers back."""
    lines = [separator.join(columns)] if header else []
    rows = zip(*columns.values(), strict=True)
    lines += [separator.join(repr(float(value)).replace(".", decimal) for value in row) for row in rows]
    return "\n".join(lines) + "\n"


LOG = made_log(ROBOT, rows=150)
COLUMNS = table(LOG)


def assert_same(log: Log, wanted: Log) -> None:
    """Equal to the last digit: all texts here are written with all digits."""
    assert log.joints == wanted.joints
    np.testing.assert_array_equal(log.t, wanted.t)
    for mine, theirs in ((log.q, wanted.q), (log.qd, wanted.qd), (log.tau, wanted.tau)):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            np.testing.assert_array_equal(mine, theirs)


def written(folder: Path, content: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path, *words: str, robot: Robot = ROBOT, mapping: Any = None, strict: bool = False) -> str:
    """The complaint about a file: one line that names the file's place and all of these words."""
    with pytest.raises(InputError) as caught:
        read_log(path, robot, mapping=mapping, strict=strict)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message
    return message


# --- what is written can be read --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_a_written_log_comes_back(ending: str, tmp_path: Path) -> None:
    for log in (LOG, replace(LOG, qd=None), replace(LOG, tau=None)):
        path = write_log(log, tmp_path / f"log.{ending}")
        assert_same(read_log(path, ROBOT), log)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
    with pytest.raises(AssertionError):  # the twin: the last digit counts
        assert_same(read_log(path, ROBOT), replace(LOG, tau=None, q=LOG.q * (1.0 + 1e-15)))


def test_logs_are_written_only_where_they_can_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.csv or \.parquet or \.npz"):
        write_log(LOG, tmp_path / "log.mcap")
    with pytest.raises(InputError, match="check the folder"):
        write_log(LOG, tmp_path / "nowhere" / "log.csv")


# --- formats and dialects --------------------------------------------------------------------------------------------


def quoted(content: str) -> str:
    return re.sub(r"[^,\n]+", lambda found: f'"{found.group()}"', content)


DIALECTS: dict[str, Callable[[], str | bytes]] = {
    "comma": lambda: text(COLUMNS),
    "semicolon": lambda: text(COLUMNS, separator=";"),
    "tab": lambda: text(COLUMNS, separator="\t"),
    "space": lambda: text(COLUMNS, separator=" "),
    "aligned": lambda: "".join(f"  {line}  \n" for line in text(COLUMNS, separator="   ").splitlines()),
    "comma and space": lambda: text(COLUMNS, separator=", "),
    "decimal comma": lambda: text(COLUMNS, separator=";", decimal=","),
    "quoted": lambda: quoted(text(COLUMNS)),
    "quoted header": lambda: '"' + '","'.join(COLUMNS) + '"\n' + text(COLUMNS, header=False),
    "byte order mark": lambda: b"\xef\xbb\xbf" + text(COLUMNS).encode(),
    "utf-16": lambda: text(COLUMNS).encode("utf-16"),
    "windows": lambda: text(COLUMNS).replace("\n", "\r\n"),
    "no last line break": lambda: text(COLUMNS).rstrip("\n"),
    "comments": lambda: "# made\n# by hand\n" + text(COLUMNS).replace("\n", "\n# and one more\n", 20),
    "percent": lambda: "% made\n" + text(COLUMNS, separator=" "),
    "commented names": lambda: "# " + ",".join(COLUMNS) + "\n" + text(COLUMNS, header=False),
    "blank lines": lambda: "\n" + text(COLUMNS).replace("\n", "\n\n", 5) + "\n\n",
    "separator at the end": lambda: text(COLUMNS).replace("\n", ",\n"),
    "late blanks": lambda: text(COLUMNS)[:-400] + text(COLUMNS)[-400:].replace(",", " , "),
    "capitals": lambda: text({name.upper(): column for name, column in COLUMNS.items()}),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_gives_the_same_numbers(dialect: str, tmp_path: Path) -> None:
    log = read_log(written(tmp_path, DIALECTS[dialect]()), ROBOT)
    assert_same(log, LOG)
    assert kinds(log) == set()


def test_without_header_the_width_decides_and_is_told(tmp_path: Path) -> None:
    log = read_log(written(tmp_path, text(COLUMNS, header=False), "log.txt"), ROBOT)
    assert_same(log, LOG)
    assert kinds(log) == {"header"}
    assert not any("log.txt" in finding.text for finding in log.findings)  # who tells it names the log
    short = {name: column for name, column in COLUMNS.items() if not name.startswith("qd")}
    assert_same(read_log(written(tmp_path, text(short, header=False)), ROBOT), replace(LOG, qd=None))
    refused(written(tmp_path, text(COLUMNS | {"more": LOG.t}, header=False)), "8 columns and no header", "5", "7")


def test_missing_values_are_dropped_rows(tmp_path: Path) -> None:
    lines = text(COLUMNS).splitlines()
    for k, word in enumerate(("", "nan", "NaN", "NA", "null", "inf")):
        fields = lines[50 + k].split(",")
        lines[50 + k] = ",".join([*fields[:-1], word])
    log = read_log(written(tmp_path, "\n".join(lines)), ROBOT)
    assert (len(log), kinds(log)) == (len(LOG) - 6, {"missing"})
    assert log.segments == ((0, 49), (49, 144))


NAMES = {
    "from zero": lambda kind, k: f"{kind}{k}",
    "underscore": lambda kind, k: f"{kind}_{k + 1}",
    "by joint": lambda kind, k: f"{kind}_{ROBOT.actuated[k]}",
    "joint first": lambda kind, k: f"{ROBOT.actuated[k]}.{kind}",
    "words": lambda kind, k: f"{ {'q': 'position', 'qd': 'velocity', 'tau': 'effort'}[kind] }_{ROBOT.actuated[k]}",
    "slashes": lambda kind, k: f"{ROBOT.actuated[k]}/{kind}",
}


@pytest.mark.parametrize("names", NAMES)
def test_names_that_say_what_they_are(names: str, tmp_path: Path) -> None:
    renamed = {"time": LOG.t, "gripper_q": LOG.t}
    for name, column in list(COLUMNS.items())[1:]:
        renamed[NAMES[names](name[:-1], int(name[-1]) - 1)] = column
    assert_same(read_log(written(tmp_path, text(renamed)), ROBOT), LOG)


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "log [1]*.parquet"  # no wildcards
    pl.DataFrame(COLUMNS).write_parquet(path, row_group_size=40)
    assert_same(read_log(path, ROBOT), LOG)
    pl.DataFrame(COLUMNS).with_columns(pl.lit("x").alias("remark"), pl.col("q1").cast(pl.Float32)).write_parquet(path)
    np.testing.assert_allclose(read_log(path, ROBOT).q, LOG.q, rtol=1e-6)  # single precision
    pl.DataFrame(COLUMNS).with_columns(pl.lit("x").alias("q1")).write_parquet(path)
    refused(path, "'q1'", "String")
    path.write_bytes(path.read_bytes()[:-20])
    refused(path, str(path), "Parquet", "copied completely")
    refused(written(tmp_path, "no parquet", "a.parquet"), "cannot be read as Parquet")
    pl.DataFrame({name: [] for name in COLUMNS}, schema=dict.fromkeys(COLUMNS, pl.Float64)).write_parquet(path)
    refused(path, "holds no rows")


def test_parquet_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.parquet"
    pl.DataFrame(COLUMNS).write_parquet(path, row_group_size=40)
    whole = read_log(path, ROBOT, mapping={"rows": [3, 60]})
    monkeypatch.setattr("ytheta.logs.reading.assemble.ROWS_PER_CHUNK", 7)
    small = read_log(path, ROBOT, mapping={"rows": [3, 60]})
    assert len(small) == 57
    for ours, theirs in ((small.t, whole.t), (small.q, whole.q), (small.tau, whole.tau)):
        np.testing.assert_array_equal(ours, theirs)


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    assert LOG.qd is not None
    assert LOG.tau is not None
    np.savez(path, t=LOG.t, q=LOG.q, qd=LOG.qd, tau=LOG.tau, remark=np.array("made"))
    assert_same(read_log(path, ROBOT), LOG)
    np.savez_compressed(path, allow_pickle=False, **COLUMNS)
    assert_same(read_log(path, ROBOT), LOG)
    np.savez(path, t=LOG.t, q=LOG.q[:-1])
    refused(path, "different numbers of rows", "t has 150")
    np.savez(path, allow_pickle=True, t=LOG.t, q=np.array([{}] * 150, dtype=object))
    refused(path, "'q'", "Python objects", "run code")
    np.savez(path, t=LOG.t, q=LOG.q.astype(complex))
    refused(path, "'q'", "complex128")
    path.write_bytes(path.read_bytes()[:-30])
    refused(path, "NumPy archive")
    path.write_bytes(np.random.default_rng(0).bytes(2000))
    assert "pickle" not in refused(path, "NumPy archive: it has another format", "numpy.savez")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from Linux")
def test_a_long_parquet_needs_its_result_and_little_beside(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
import polars, ytheta
from ytheta.logs.reading.assemble import assemble_log
from ytheta.logs.reading.mapping import ColumnMapping
from ytheta.logs.reading.parquet import read_parquet
robot, path = ytheta.load("ur10"), Path(sys.argv[1])
def peak():  # ru_maxrss would count the process that started this one
    return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
log = assemble_log(read_parquet(path), robot, ColumnMapping(), "log")
print(peak() - before, log.t.nbytes + log.q.nbytes + log.tau.nbytes)
"""
    path = tmp_path / "long.parquet"
    column = np.random.default_rng(0).standard_normal(1_500_000)
    names = ["t", *(f"{kind}{k}" for kind in ("q", "tau") for k in range(1, 7))]
    pl.DataFrame(dict.fromkeys(names, column)).write_parquet(path, compression="uncompressed")
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    peak, result = (int(figure) for figure in done.stdout.split())
    # Besides the result: what Polars' own threads hold, some 40 MB however long the file is.
    assert peak < result + 70e6


# --- ROS 2 bags ------------------------------------------------------------------------------------------------------


def write_bag(
    path: Path, storage: str, log: Log, *, names: list[str], topics: tuple[str, ...] = ("/joint_states",)
) -> Path:
    """A bag by the library's own writer; ``names`` may be more than the robot has, in any order."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    make = store.types
    state, header, time = (
        make[f"{name}"] for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    assert log.qd is not None
    assert log.tau is not None
    with Writer(path, version=9, storage_plugin=StoragePlugin[storage]) as bag:
        for topic in topics:
            connection = bag.add_connection(topic, state.__msgtype__, typestore=store)
            for k in range(len(log)):
                nanoseconds = round(log.t[k] * 1e9) + 1_600_000_000_000_000_000
                stamp = time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
                rows = []
                for values in (log.q, log.qd, log.tau):
                    at = dict(zip(log.joints, values[k], strict=True))
                    rows.append(np.array([at.get(name, 9.0) for name in names]))
                message = state(
                    header=header(stamp=stamp, frame_id=""),
                    name=names,
                    position=rows[0],
                    velocity=rows[1],
                    effort=rows[2],
                )
                bag.write(connection, nanoseconds + 5_000, store.serialize_cdr(message, state.__msgtype__))
    return path


@pytest.mark.parametrize(("storage", "ending"), [("MCAP", "mcap"), ("SQLITE3", "db3")])
def test_bags_are_matched_by_joint_name(storage: str, ending: str, tmp_path: Path) -> None:
    names = ["gripper", *reversed(ROBOT.actuated)]
    folder = write_bag(tmp_path / "bag", storage, LOG, names=names)
    for path in (folder, next(folder.glob(f"*.{ending}"))):
        log = read_log(path, ROBOT)
        np.testing.assert_allclose(log.t, LOG.t, atol=2e-9)  # stamps are whole nanoseconds
        assert_same(replace(log, t=LOG.t), LOG)
        assert kinds(log) == set()


def test_bags_with_something_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topics = ("/left", "/right")
    folder = write_bag(tmp_path / "bag", "MCAP", LOG, names=list(ROBOT.actuated), topics=topics)
    refused(folder, "several topics", "/left", "topic = ")
    refused(folder, "'/lef'", "'/left'", mapping={"topic": "/lef"})
    assert_same(replace(read_log(folder, ROBOT, mapping={"topic": "/left"}), t=LOG.t), LOG)
    other = write_bag(tmp_path / "other", "MCAP", LOG, names=["joint1", "elbow"])
    refused(other, "'joint2' is missing", "elbow")
    broken = next(other.glob("*.mcap"))
    broken.write_bytes(broken.read_bytes()[:1000])
    refused(broken, "ROS 2 bag", "copied completely")
    refused(written(tmp_path, "nothing", "a.db3"), "ROS 2 bag")
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ytheta\[rosbags\]'"):
        read_log(folder, ROBOT)


# --- mappings --------------------------------------------------------------------------------------------------------


def test_a_mapping_file_does_all_at_once(tmp_path: Path) -> None:
    matrix = np.array([[50.0, 0.0], [20.0, -40.0]])
    assert LOG.tau is not None
    motor, torque = LOG.q @ matrix.T, LOG.tau @ np.linalg.inv(matrix)
    columns = {"clock": LOG.t * 1e3, "m2": np.degrees(motor[:, 1]), "m1": np.degrees(motor[:, 0])}
    columns |= {"i1": torque[:, 0] / 0.5, "i2": -torque[:, 1] / 0.25}
    mapping = written(
        tmp_path,
        """
rows = [10, 140]
skip = 2
[columns]
t = "clock"
q = ["m1", 1]
current = "i{}"
[scale]
t = "ms"
q = "degrees"
[sign]
current = [1, -1]
[gain]
current = [0.5, 0.25]
[motor]
matrix = [[50, 0], [20, -40]]
[offset]
q = [0, "-pi/2"]
""",
        "mapping.toml",
    )
    log = read_log(written(tmp_path, "line one\nline, two\n" + text(columns)), ROBOT, mapping=mapping)
    wanted = LOG.rows(10, 140)
    np.testing.assert_allclose(log.t, wanted.t, rtol=1e-12)
    np.testing.assert_allclose(log.q, wanted.q + np.array([0.0, -np.pi / 2]), atol=1e-12)
    assert log.tau is not None
    assert wanted.tau is not None
    np.testing.assert_allclose(log.tau, wanted.tau, atol=1e-12)


def test_units_joint_by_joint(tmp_path: Path) -> None:
    mixed = COLUMNS | {"q1": np.degrees(COLUMNS["q1"]), "qd1": np.degrees(COLUMNS["qd1"]), "qd2": 2.0 * COLUMNS["qd2"]}
    scale = {"q": ["degrees", "radians"], "qd": ["deg", 0.5]}
    log = read_log(written(tmp_path, text(mixed)), ROBOT, mapping={"scale": scale})
    np.testing.assert_allclose(log.q, LOG.q, rtol=1e-12)
    assert log.qd is not None
    assert LOG.qd is not None
    np.testing.assert_allclose(log.qd, LOG.qd, rtol=1e-12)


def test_a_log_is_shown_in_one_line() -> None:
    assert repr(LOG) == "Log(made: 150 samples, 1.49 s at 100 Hz; joint1, joint2)"
    assert "in 2 segments" in repr(replace(LOG, segments=((0, 70), (70, 150))))
    assert repr(replace(LOG.rows(0, 0), source="")) == "Log(unnamed: 0 samples, 0 s at 0 Hz; joint1, joint2)"


def test_a_rate_stands_for_the_time(tmp_path: Path) -> None:
    without = {name: column for name, column in COLUMNS.items() if name != "t"}
    path = written(tmp_path, text(without))
    refused(path, "no time column 't'", "rate = ")
    np.testing.assert_allclose(read_log(path, ROBOT, mapping={"rate": 100.0}).t, LOG.t, atol=1e-12)
    bare = written(tmp_path, text(without, header=False), "bare.csv")
    np.testing.assert_array_equal(read_log(bare, ROBOT, mapping={"rate": 100.0}).q, LOG.q)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"colums": {}}, ("'colums'", "'columns'")),
        ({"columns": {"tua": "tau{}"}}, ("[columns]", "'tua'", "'tau'")),
        ({"columns": {"q": "pos{}"}}, ("'pos1'", "'q'")),
        ({"columns": {"q": "q1"}}, ("{}",)),
        ({"columns": {"q": ["q1"]}}, ("1 columns", "2", "joint1, joint2")),
        ({"columns": {"q": [1, 99]}}, ("7 columns", "99", "from 0")),
        ({"columns": {"q": [1, -1]}}, ("from 0", "-1")),
        ({"columns": {"t": True}}, ("'t'", "True")),
        ({"columns": {"tau": "tau{}", "current": "tau{}"}}, ("both give the torque",)),
        ({"columns": {"current": "tau{}"}}, ("gains", "Nm/A")),
        ({"gain": {"current": [1, 2]}}, ("[gain]", "no column of currents")),
        ({"sign": {"current": -1}}, ("[sign]", "no column of currents")),
        ({"columns": {"t": "t"}, "rate": 5}, ("both give the time",)),
        ({"rate": 0}, ("'rate'", "above zero")),
        ({"rate": "fast"}, ("'rate'", "'fast'")),
        ({"scale": {"q": "degree"}}, ("'degree'", "'degrees'")),
        ({"scale": {"q": ["degrees", "radian"]}}, ("'radian'", "'radians'")),
        ({"sign": {"q": ["degrees", 1]}}, ("[sign]", "'degrees'")),
        ({"scale": {"q": [1, 2, 3]}}, ("[scale]", "3 numbers for 2 joints")),
        ({"scale": {"qdd": 2}}, ("'qdd'", "'qd'")),
        ({"scale": {"q": float("nan")}}, ("finite",)),
        ({"sign": {"q": 2}}, ("1 and -1",)),
        ({"offset": {"q": "pie"}}, ("'pie'", "multiple of pi")),
        ({"motor": {"matrix": [[1, 0], [0, 0]]}}, ("cannot be inverted",)),
        ({"motor": {"matrix": [[1]]}}, ("1 rows", "2 actuated")),
        ({"motor": {"matrix": [[1, 2]]}}, ("as many rows",)),
        ({"motor": {"matrx": [[1]]}}, ("'matrx'", "'matrix'")),
        ({"rows": [5, 5]}, ("empty",)),
        ({"rows": [0, 1000]}, ("beyond the 150 rows",)),
        ({"rows": 5}, ("[first, last]",)),
        ({"skip": -1}, ("'skip'", "-1")),
        ({"topic": 3}, ("'topic'",)),
        ({"columns": 3}, ("[columns]",)),
    ],
)
def test_wrong_mappings_are_explained(mapping: dict[str, Any], words: tuple[str, ...], tmp_path: Path) -> None:
    refused(written(tmp_path, text(COLUMNS)), *words, mapping=mapping)


def test_wrong_mapping_files_are_explained(tmp_path: Path) -> None:
    path = written(tmp_path, text(COLUMNS))
    refused(path, "none.toml", "exists", mapping=tmp_path / "none.toml")
    refused(path, "a.toml", "cannot be read as a mapping", mapping=written(tmp_path, "t = ", "a.toml"))
    refused(path, "b.toml", "cannot be read as a mapping", mapping=written(tmp_path, b"\xff\xfe\xff", "b.toml"))
    refused(path, "directory", mapping=tmp_path)
    refused(written(tmp_path, b"x", "c.npz"), "'skip'", mapping={"skip": 3})
    assert read_mapping(read_mapping({"skip": 3})).skip == 3


# --- what is refused -------------------------------------------------------------------------------------------------


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    refused(tmp_path / "none.csv", "none.csv", "exists")
    refused(tmp_path, "directory", "metadata.yaml")
    refused(written(tmp_path, ""), "is empty")
    refused(written(tmp_path, "\n\n# nothing\n"), "holds no data")
    refused(written(tmp_path, ",".join(COLUMNS) + "\n"), "holds no rows")
    refused(written(tmp_path, "hello\nworld\n"), "not divided into columns", "'hello'")
    refused(written(tmp_path, "x", "log.xlsx"), "'.xlsx'", ".csv")
    refused(Path("/dev/null"), "regular file")
    refused(tmp_path / ("x" * 300 + ".csv"), "cannot be read")
    refused(tmp_path / "a\0b.csv", "cannot be read")


def test_columns_that_are_missing_or_too_many(tmp_path: Path) -> None:
    def without(*names: str) -> Path:
        return written(tmp_path, text({name: column for name, column in COLUMNS.items() if name not in names}))

    refused(without("q2"), "has 1 column q1, but", "2 actuated", "joint1, joint2")
    refused(without("q1", "q2"), "no columns q1 … q2", "mapping")
    refused(written(tmp_path, text({f"joint_{k}": c for k, c in COLUMNS.items()})), "q1 … q2", "joint_q1")
    refused(written(tmp_path, text(COLUMNS)), "2 columns q1 … q2", "6 actuated", robot=ytheta.load("ur10"))
    log = read_log(without("tau1", "tau2"), ROBOT)
    assert log.tau is None
    assert kinds(log) == {"torque"}


def test_misspelt_columns(tmp_path: Path) -> None:
    def renamed(**names: str) -> Path:
        return written(tmp_path, text({names.get(name, name): column for name, column in COLUMNS.items()}))

    words = ("(there are: p1, p2, t)", "q, pos or position", "q_joint1", '[columns] q = "name{}"')
    assert "?;" not in refused(renamed(q1="p1", q2="p2"), *words)
    refused(renamed(t="tiem"), "(did you mean 'tiem'?); name it")
    (finding,) = (f for f in read_log(renamed(tau1="tua1", tau2="tua2"), ROBOT).findings if f.code == "torque")
    assert "(did you mean 'tua1'?); use one of the names tau, torque or effort" in finding.text


def test_lines_that_are_no_rows(tmp_path: Path) -> None:
    lines = text(COLUMNS).splitlines()
    refused(written(tmp_path, "\n".join([*lines[:60], "0.1,0.2", *lines[60:]])), "line 61", "2 fields", "7")
    refused(written(tmp_path, "\n".join([*lines[:60], lines[60] + ",5,6", *lines[61:]])), "line 61", "9 fields")
    refused(written(tmp_path, "\n".join(["# a", *lines[:60], "a,b,c,d,e,f,g", *lines[60:]])), "line 62", "'a'", "'t'")
    spoiled = lines[80].replace(lines[80].split(",")[3], "x12")
    refused(written(tmp_path, "\n".join([*lines[:80], spoiled, *lines[81:]])), "line 81", "'x12'", "'qd1'")


@pytest.mark.parametrize("cut", [5, 30, 60])
def test_a_last_line_that_was_cut_off_is_dropped_and_told(cut: int, tmp_path: Path) -> None:
    lines = text(COLUMNS).splitlines()
    path = written(tmp_path, "\n".join([*lines[:-1], lines[-1][:cut]]))
    log = read_log(path, ROBOT)
    assert_same(log, LOG.rows(0, len(LOG) - 1))
    (finding,) = (finding for finding in log.findings if finding.code == "truncated")
    assert finding.severity is Severity.REPAIRED
    assert "(151)" in finding.text
    refused(path, "cut off", strict=True)


# --- real logs -------------------------------------------------------------------------------------------------------

REAL: dict[str, tuple[str, int, int, set[str]]] = {  # robot, rows left, segments, findings
    "tx40/tx40_joint.parquet": ("tx40", 45000, 1, set()),
    "kr300/kr300_run_a.parquet": ("kr300", 2501, 1, set()),
    "kr300/kr300_run_b.parquet": ("kr300", 2501, 1, set()),
    "lwr4/lwr4_run1.parquet": ("lwr4", 5027, 1, set()),
    "lwr4/lwr4_run2.parquet": ("lwr4", 5027, 1, set()),
    "panda/panda_gaz2019.parquet": ("panda", 19436, 5, {"gap", "held"}),
    "ur10e/ur10e_train_30s_12harm.parquet": ("ur10e", 3691, 1, set()),
    "ur10e/ur10e_ptp10.parquet": ("ur10e", 5347, 1, set()),
    "ur10e/ur10e_20s_8harm.parquet": ("ur10e", 2506, 1, set()),
    "ur10e/ur10e_50s_14harm_unloaded.parquet": ("ur10e", 5375, 1, set()),
    "ur10e/ur10e_50s_14harm_loaded.parquet": ("ur10e", 5306, 1, {"spike"}),
    "dvrk_mtm/mtm_train_one.parquet": ("dvrk_mtm", 5240, 1, {"held", "velocity"}),
    "dvrk_mtm/mtm_test_two.parquet": ("dvrk_mtm", 5344, 1, {"held", "velocity"}),
}


@pytest.mark.parametrize("name", REAL)
def test_real_logs(name: str, shared_data: Path) -> None:
    robot, rows, segments, wanted = REAL[name]
    log = read_log(shared_data / name, shared_robot(shared_data, robot))
    assert (len(log), len(log.segments), kinds(log)) == (rows, segments, wanted)
    assert np.all(np.isfinite(log.q))
    assert [finding.severity for finding in log.findings if finding.code == "sampling"] == [Severity.NOTE]


def test_the_motor_side_of_the_tx40_is_its_joint_side(shared_data: Path) -> None:
    robot = shared_robot(shared_data, "tx40")
    matrix = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
    matrix[5, 4] = 32.0
    mapping = {
        "columns": {"q": "qm{}", "tau": "taum{}"},
        "motor": {"matrix": matrix.tolist()},
        "offset": {"q": [0, "-pi/2", "pi/2", 0, 0, 0]},
    }
    joint = read_log(shared_data / "tx40/tx40_joint.parquet", robot)
    motor = read_log(shared_data / "tx40/tx40_motor.parquet", robot, mapping=mapping)
    assert joint.tau is not None
    assert motor.tau is not None
    np.testing.assert_allclose(motor.q, joint.q, atol=1e-9)
    np.testing.assert_allclose(motor.tau, joint.tau, atol=1e-9)
    del mapping["offset"]  # the twin: without the offsets it is another pose
    shifted = read_log(shared_data / "tx40/tx40_motor.parquet", robot, mapping=mapping)
    assert np.abs(shifted.q - joint.q).max() > 1.0
    refused(shared_data / "tx40/tx40_motor.parquet", "q1 … q6", "'qm1'", robot=robot)


def test_a_log_of_another_robot(shared_data: Path) -> None:
    path = shared_data / "panda/panda_gaz2019.parquet"
    refused(path, "7 columns q1 … q7", "6 actuated", robot=shared_robot(shared_data, "ur10e"))
    tree = ytheta.load(shared_data / "dvrk_mtm/mtm_tree.urdf")
    refused(shared_data / "dvrk_mtm/mtm_train_one.parquet", "7 columns", "9 actuated", robot=tree)


GAINS = [14.87, 13.26, 11.13, 10.62, 11.03, 11.47]
RAW: dict[str, dict[str, Any]] = {
    "columns": {"t": 0, "q": [1, 2, 3, 4, 5, 6], "qd": [7, 8, 9, 10, 11, 12], "current": [13, 14, 15, 16, 17, 18]},
    "gain": {"current": GAINS},
}


def test_a_raw_file_without_target_columns(shared_data: Path) -> None:
    robot, path = shared_robot(shared_data, "ur10e"), shared_data / "ur10e/dirty/ur-19_09_27-11_28_22.csv"
    target = {"columns": RAW["columns"] | {"tau": [25, 26, 27, 28, 29, 30]}}
    del target["columns"]["current"]
    refused(path, "19 columns", "column 25", "'tau'", robot=robot, mapping=target)
    assert "truncated" not in kinds(read_log(path, robot, mapping=RAW))
    assert "header" in kinds(read_log(path, robot))


def test_a_raw_file_that_begins_with_garbage(shared_data: Path) -> None:
    robot, path = shared_robot(shared_data, "ur10e"), shared_data / "ur10e/dirty/ur-19_09_27-11_32_02.csv"
    log = read_log(path, robot, mapping=RAW)
    assert kinds(log) == {"garbage"}
    assert (len(log), log.t[0]) == (1119, 0.727)
    assert any("20 of 1139" in finding.text and "rows 0 to 19" in finding.text for finding in log.findings)
    refused(path, "garbage", robot=robot, mapping=RAW, strict=True)


def test_a_raw_file_with_a_truncated_last_line(shared_data: Path) -> None:
    robot, path = shared_robot(shared_data, "ur10e"), shared_data / "ur10e/dirty/ur-20_02_19_15harm50secLoad.csv"
    log = read_log(path, robot, mapping=RAW)
    assert kinds(log) == {"truncated", "garbage"}  # rows 1 to 9 are garbage too, with garbage times
    assert (len(log), log.t[0]) == (6096, 3048.059)
    assert any("line (6107)" in finding.text and "20 fields instead of 31" in finding.text for finding in log.findings)
    refused(path, "31 columns and no header", "13", "19", robot=robot)
