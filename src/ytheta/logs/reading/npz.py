"""Reading NumPy archives with one array per column (``t``, ``q1``, …) or per quantity (``q``: samples x joints).

The columns of a two-dimensional array ``q`` are called q1, q2, … Pickled objects are refused, since unpickling can
run code from the file.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from ytheta.errors import InputError
from ytheta.logs.reading.memory import read_arrays
from ytheta.logs.reading.table import ColumnTable


def read_npz(path: Path) -> ColumnTable:
    """Return the table of an ``.npz`` file."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: _read_array(path, archive, name) for name in archive.files}
    except (OSError, EOFError, zipfile.BadZipFile, ValueError) as error:
        # NumPy treats a file of unknown format as a pickle, and its error message suggests unpickling the file.
        reason = "it is not an .npz file" if "pickle" in str(error) else str(error).splitlines()[0]
        raise InputError(
            f"{path} cannot be read as a NumPy archive: {reason}; write it with numpy.savez(file, t=t, q=q, tau=tau)"
        ) from None
    return read_arrays(arrays, str(path))


def _read_array(path: Path, archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    try:
        array = archive[name]
    except ValueError as error:
        if "pickle" not in str(error):
            raise
        raise InputError(
            f"{path}: the array {name!r} contains Python objects, which are not read because unpickling can run code; "
            "store it as plain numbers"
        ) from None
    if array.dtype.kind not in "fiub":
        if array.ndim == 0 or array.dtype.kind in "US":
            return np.empty(())  # a comment, not a measurement
        raise InputError(f"{path}: the array {name!r} contains {array.dtype}, not numbers; store floating-point arrays")
    return array.astype(np.float64, copy=False)
