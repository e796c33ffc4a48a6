"""NumPy archives: arrays per quantity and per column; pickles and damaged files are refused."""

from __future__ import annotations

import contextlib
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.log_files import ARM, ARM_COLUMNS, ARM_LOG, assert_file_refused, assert_same_log
from ytheta.errors import InputError
from ytheta.logs.reading.read import read_log


def test_archives_are_read_and_damaged_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    assert ARM_LOG.qd is not None
    assert ARM_LOG.tau is not None
    np.savez(path, t=ARM_LOG.t, q=ARM_LOG.q, qd=ARM_LOG.qd, tau=ARM_LOG.tau, remark=np.array("made"))
    assert_same_log(read_log(path, ARM), ARM_LOG)
    np.savez_compressed(path, allow_pickle=False, **ARM_COLUMNS)
    assert_same_log(read_log(path, ARM), ARM_LOG)
    np.savez(path, t=ARM_LOG.t, q=ARM_LOG.q[:-1])
    assert_file_refused(path, "different numbers of rows", "t has 150")
    np.savez(path, allow_pickle=True, t=ARM_LOG.t, q=np.array([{}] * 150, dtype=object))
    assert_file_refused(path, "'q'", "Python objects", "run code")
    np.savez(path, t=ARM_LOG.t, q=ARM_LOG.q.astype(complex))
    assert_file_refused(path, "'q'", "complex128")
    path.write_bytes(path.read_bytes()[:-30])
    assert_file_refused(path, "NumPy archive")
    path.write_bytes(np.random.default_rng(0).bytes(2000))
    assert "pickle" not in assert_file_refused(path, "NumPy archive: it is not an .npz file", "numpy.savez")


def write_archive(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def make_header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_sizes_are_checked_before_arrays_are_read(tmp_path: Path) -> None:
    """Headers that promise more than the archive contains, and arrays that only compression makes small."""
    path = tmp_path / "log.npz"
    for shape in ("(1000000000000,)", "(150, 1000000000)", "(10**9,)", "(-5,)", "()" * 3000):
        assert_file_refused(write_archive(path, {"t.npy": make_header(shape) + bytes(1200)}), "log.npz")
    for kind in ("<f8", "|i1"):  # small integers become as large as floating-point numbers
        bomb = make_header("(20000000,)", kind) + bytes(20_000_000 * int(kind[-1]))
        assert_file_refused(write_archive(path, {"t.npy": bomb}), "0.16 GB but only", "no record of a motion")


def test_arrays_that_are_not_needed_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    np.savez(path, allow_pickle=True, **ARM_COLUMNS, notes=np.array([{}] * 150, dtype=object))
    assert_same_log(read_log(path, ARM), ARM_LOG)
    np.savez(path, allow_pickle=False, **ARM_COLUMNS, image=np.zeros((150, 1000)))
    content = bytearray(path.read_bytes())
    place = content.index(b"image.npy") + 500_000
    content[place] ^= 0xFF  # the checksum of this array is wrong now
    path.write_bytes(content)
    assert_same_log(read_log(path, ARM), ARM_LOG)


def test_arrays_that_give_the_same_column_are_refused_if_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    np.savez(path, allow_pickle=False, **ARM_COLUMNS, x=ARM_LOG.q, x1=ARM_LOG.t)
    assert_same_log(read_log(path, ARM), ARM_LOG)
    np.savez(path, allow_pickle=False, **ARM_COLUMNS, q=ARM_LOG.q)
    assert_file_refused(path, "several columns 'q1'", "rename")
    arrays = [*ARM_COLUMNS.items(), ("q1", np.zeros((150, 2))), ("note", np.array("a")), ("note", ARM_LOG.t)]
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings(action="ignore"):  # repeated names
        for name, array in arrays:
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array)
    assert_same_log(read_log(path, ARM), ARM_LOG)  # the second array q1 has the columns q11 and q12


def test_a_member_with_very_many_columns_is_not_a_part_of_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    np.savez(path, t=ARM_LOG.t[:3], q=np.zeros((3, 20_000)))
    assert_file_refused(path, "'q' is an array with 20,000 columns")


def test_members_that_are_not_arrays(tmp_path: Path) -> None:
    path = tmp_path / "log.npz"
    assert_file_refused(write_archive(path, {"readme.txt": b"hello"}), "contains no arrays")
    assert_file_refused(write_archive(path, {"t.npy": b""}), "NumPy archive")
    assert_file_refused(write_archive(path, {"t.npy": b"\x93NUMPY\x09\x00" + bytes(100)}), "NumPy archive")
    assert_file_refused(write_archive(path, {"t.npy": make_header("((((") + bytes(8)}), "NumPy archive")
    message = assert_file_refused(write_archive(path, {"t.npy": make_header("9" * 5000) + bytes(8)}), "NumPy archive")
    assert len(message) < 500
    lzma = write_archive(path, {f"{name}.npy": bytes(900) for name in "tq"}, zipfile.ZIP_LZMA)
    damaged = bytearray(lzma.read_bytes())
    damaged[45:60] = bytes(range(240, 255))  # the compressed data
    path.write_bytes(damaged)
    assert_file_refused(path, "NumPy archive")
    assert_file_refused(write_archive(path, {"t.npy": make_header("(__import__('os'),)") + bytes(8)}), "NumPy archive")


@pytest.mark.parametrize("damage", range(60))
def test_damaged_archives_are_refused_or_read(damage: int, tmp_path: Path) -> None:
    """Whatever is changed: either our error, or a log; never another error."""
    path = tmp_path / "log.npz"
    np.savez_compressed(path, allow_pickle=False, **ARM_COLUMNS)
    rng = np.random.default_rng(damage)
    content = bytearray(path.read_bytes())
    for place in rng.integers(0, len(content), 1 + damage % 5):
        content[place] = rng.integers(0, 256)
    path.write_bytes(content[: len(content) if damage % 3 else rng.integers(1, len(content))])
    with contextlib.suppress(InputError):
        read_log(path, ARM)


def test_long_headers_are_not_read(tmp_path: Path) -> None:
    """NumPy would first decompress the header: 2 MB of an archive could become 2 GB."""
    path, size = tmp_path / "log.npz", 100_000_000
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.npy", b"\x93NUMPY\x02\x00" + size.to_bytes(4, "little") + b" " * size)
    tracemalloc.start()
    try:
        assert_file_refused(path, "NumPy archive: the header of an array has 100,000,000 bytes")
        assert tracemalloc.get_traced_memory()[1] < size / 10
    finally:
        tracemalloc.stop()


def test_time_may_be_a_matrix_of_one_column(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {"t": ARM_LOG.t[:, None], "q": ARM_LOG.q, "qd": ARM_LOG.qd, "tau": ARM_LOG.tau}
    np.savez(tmp_path / "log.npz", **arrays)
    assert_same_log(read_log(tmp_path / "log.npz", ARM), ARM_LOG)


def test_archives_of_python_2_are_read_without_a_warning(tmp_path: Path) -> None:
    """It wrote 150L for the whole number 150 in the headers of arrays."""
    path = tmp_path / "log.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in ARM_COLUMNS.items():
            header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (150L,), }".ljust(117) + b"\n"
            content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes()
            archive.writestr(f"{name}.npy", content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_log(read_log(path, ARM), ARM_LOG)
