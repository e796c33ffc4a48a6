"""HDF5 and MATLAB files and LeRobot datasets with the numbers of a log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ytheta.logs.log import Log


def name_matrices(log: Log) -> dict[str, np.ndarray]:
    """The matrices of a log with one row per sample, and t."""
    assert log.qd is not None
    assert log.tau is not None
    return {"t": log.t, "q": log.q, "qd": log.qd, "tau": log.tau}


def write_mat(path: Path, variables: dict[str, Any], *, compressed: bool = False) -> Path:
    """Write a MATLAB file of version 5 with SciPy."""
    import scipy.io

    scipy.io.savemat(path, variables, do_compression=compressed)
    return path


def write_hdf5(path: Path, arrays: dict[str, Any], **options: Any) -> Path:
    """Write an HDF5 file; names may contain groups. ``options`` are those of create_dataset."""
    import h5py

    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file.create_dataset(name, data=values, **options)
    return path


def write_mat73(path: Path, arrays: dict[str, np.ndarray]) -> Path:
    """Write a MATLAB 7.3 file as MATLAB does: 512 bytes of text before HDF5, matrices by columns."""
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in arrays.items():
            dataset = file.create_dataset(name, data=np.atleast_2d(values) if values.ndim == 1 else values.T)
            dataset.attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + b"\x00\x02IM")
    return path


def write_lerobot(
    folder: Path,
    features: dict[str, tuple[np.ndarray, Any]],
    times: np.ndarray,
    episodes: np.ndarray,
    *,
    files: int = 1,
    frames: np.ndarray | None = None,
) -> Path:
    """Write a LeRobot dataset of version 3; ``features`` are matrices and the names of their entries.

    ``frames`` are the numbers of the frames in their episodes, which old datasets do not have.
    """
    (folder / "meta").mkdir(parents=True)
    (folder / "data" / "chunk-000").mkdir(parents=True)
    described = {
        name: {"dtype": "float64", "shape": [values.shape[1]], "names": names}
        for name, (values, names) in features.items()
    }
    described |= {
        "observation.images.top": {"dtype": "video", "shape": [480, 640, 3], "names": ["height", "width", "channels"]},
        "timestamp": {"dtype": "float64", "shape": [1], "names": None},
        "episode_index": {"dtype": "int64", "shape": [1], "names": None},
    }
    if frames is not None:
        described["frame_index"] = {"dtype": "int64", "shape": [1], "names": None}
    info = {"codebase_version": "v3.0", "robot_type": "arm", "fps": 100, "features": described}
    (folder / "meta" / "info.json").write_text(json.dumps(info, indent=4), encoding="utf-8")
    frame = pl.DataFrame(
        {name: pl.Series(values.tolist(), dtype=pl.List(pl.Float64)) for name, (values, _) in features.items()}
        | {"timestamp": times, "episode_index": episodes}
        | ({} if frames is None else {"frame_index": frames})
    )
    for k, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        path = folder / "data" / "chunk-000" / f"file-{k:03d}.parquet"
        frame[int(rows[0]) : int(rows[-1]) + 1].write_parquet(path)
    return folder
