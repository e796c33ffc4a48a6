"""Reading a file of any supported format into a table. The extension decides, and the content must agree with it."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from ytheta.errors import InputError, suggest_names
from ytheta.files.command_files import report_input
from ytheta.logs.reading.table import ColumnTable

TEXT_SUFFIXES = (".csv", ".txt", ".tsv", ".dat")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
HDF5_SUFFIXES = (".h5", ".hdf5", ".hdf")
BAG_SUFFIXES = (".mcap", ".db3", ".bag")
SUFFIXES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, ".parquet", ".npz", ".mat", *HDF5_SUFFIXES, *BAG_SUFFIXES)

# What files of binary formats begin with, their name, and their extensions.
MAGICS = (
    (b"PAR1", "a Parquet file", (".parquet",)),
    (b"PK\x03\x04", "a zip archive, such as an .npz file", (".npz",)),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", (*HDF5_SUFFIXES, ".mat")),
    (b"MATLAB ", "a MATLAB file", (".mat",)),
    (b"\x89MCAP0\r\n", "an MCAP file", (".mcap",)),
    (b"SQLite format 3\x00", "an SQLite database, such as a .db3 bag", (".db3",)),
    (b"#ROSBAG V", "a ROS 1 bag", (".bag",)),
)
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "Zstandard"}
HEAD_SIZE = 16  # bytes


def read_file(
    path: Path, joints: Sequence[str], *, locked: Sequence[str] = (), skip: int = 0, topic: str | None = None
) -> ColumnTable:
    """Return the table of a file or dataset. ``skip``: lines of a text file to skip. ``topic``: that of a bag.

    ``joints`` are the actuated coordinates of the robot, ``locked`` its locked joints.
    """
    is_folder = _check_path(path)
    suffix = path.suffix.lower()
    if skip and (is_folder or suffix not in TEXT_SUFFIXES):
        raise InputError(f"'skip' of the mapping is for text files, but {path} is not one; use 'rows'")
    if topic is not None and not (is_folder or suffix in (*BAG_SUFFIXES, *HDF5_SUFFIXES, ".mat")):
        raise InputError(
            f"a topic is given ({topic[:40]!r}), but {path} has none; it is for bags, HDF5 and MATLAB files"
        )
    # Each format is imported here, since a log has only one.
    if is_folder and (path / "meta").is_dir():
        from ytheta.logs.reading.formats.lerobot import read_lerobot

        return read_lerobot(path)
    if is_folder or suffix in BAG_SUFFIXES:
        from ytheta.logs.reading.isolation.bag_process import read_isolated_bag

        return read_isolated_bag(path, joints, topic, locked=locked)
    if suffix in TEXT_SUFFIXES:
        from ytheta.logs.reading.formats.csv import read_csv

        return read_csv(path, skip, joints, locked)
    if suffix in JSON_SUFFIXES:
        from ytheta.logs.reading.formats.json_lines import read_json_lines

        return read_json_lines(path)
    if suffix == ".parquet":
        from ytheta.logs.reading.formats.parquet import read_parquet

        _refuse_part_of_dataset(path)
        return read_parquet(path)
    if suffix in HDF5_SUFFIXES or suffix == ".mat":
        from ytheta.logs.reading.arrays.array_table import read_hdf5, read_mat

        return (read_mat if suffix == ".mat" else read_hdf5)(path, joints, topic)
    from ytheta.logs.reading.formats.npz import read_npz

    return read_npz(path)


def _refuse_part_of_dataset(path: Path) -> None:
    """Refuse a data file of a LeRobot dataset: the names of its joints are elsewhere in the dataset."""
    folder = path.absolute().parent.parent.parent  # of data/chunk-000/file-000.parquet
    if (folder / "meta" / "info.json").is_file():
        raise InputError(
            f"{path} is a part of the LeRobot dataset {folder.name}, whose meta/info.json contains the names of the "
            "joints; give the folder of the dataset instead"
        )


def _check_path(path: Path) -> bool:
    """Refuse a path that cannot be a log; return whether it is the folder of a bag or a dataset."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            if not (path / "metadata.yaml").is_file() and not (path / "meta" / "info.json").is_file():
                is_bag = any(path.glob("*.mcap")) or any(path.glob("*.db3"))
                remedy = "choose a log file in it" + (
                    f", or write metadata.yaml with: ros2 bag reindex {path.name}" if is_bag else ""
                )
                raise InputError(
                    f"{path} is a directory without metadata.yaml or meta/info.json, hence neither a ROS 2 bag nor a "
                    f"LeRobot dataset; {remedy}"
                )
            return True
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is not a regular file; save the log as a regular file")
        if status.st_size == 0:
            raise InputError(f"{path} is empty; record the motion again, or choose another file")
        with path.open("rb") as file:
            report_input(path)
            _check_format(path, file.read(HEAD_SIZE))
            return False
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{path} does not exist; check the path of the log") from None
    except (OSError, ValueError) as error:  # no permission; or the name is too long or contains a null character
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}; check its path and permissions") from None


def _check_format(path: Path, head: bytes) -> None:
    """Refuse an unknown extension, and content of another format than the extension says."""
    suffix = path.suffix.lower()
    for magic, name in COMPRESSIONS.items():
        if head.startswith(magic):
            raise InputError(f"{path} is compressed with {name}; decompress it first")
    for magic, name, suffixes in MAGICS:
        if head.startswith(magic) and suffix not in suffixes:
            raise InputError(
                f"{path} ends in {path.suffix!r}, but its content is that of {name}; rename it to "
                f"{path.stem[:40]}{suffixes[0]}"
            )
    if suffix not in SUFFIXES:
        suggestion = suggest_names(path.suffix, SUFFIXES)
        raise InputError(f"{path} ends in {path.suffix!r}, which is not a supported log format{suggestion}")
