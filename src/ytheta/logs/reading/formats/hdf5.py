"""Arrays of HDF5 files, among them those of MATLAB 7.3; called in the process of ``array_server``.

Only what is inside the file is read: files with external links, external storage or virtual datasets are refused. Soft
links are not followed, since their targets are found by themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ytheta.logs.reading.column_names import parse_label_name
from ytheta.logs.reading.formats.array_server import NUMBERS, ListedArray, Listing, RefusedError
from ytheta.logs.reading.memory import list_texts

# Largest number of groups, datasets and links. Chosen on: reasoning; a log has fewer.
MAX_OBJECTS = 10_000
# Depth of groups within groups. Chosen on: rule of thumb.
MAX_DEPTH = 20
# Largest number of cells of a cell array. Chosen on: rule of thumb.
MAX_CELLS = 1000
# Largest number of texts of a dataset of joint names, which may have one row per sample. Chosen on: rule of thumb.
MAX_LABELS = 100_000
MATLAB_GROUPS = ("#refs#", "#subsystem#")
COPY_REMEDY = "copy the data into one file"


def list_arrays(path: Path) -> Listing:
    """List the datasets of a file."""
    file = h5py.File(path, "r", locking=False)  # stays open until the process ends
    walk = _Walk(file, [], {}, set())
    walk.visit_group(file, "", 0)
    return Listing(walk.arrays, walk.others, walk.texts)


class _Walk:
    """A walk over all groups of a file."""

    def __init__(self, file: Any, arrays: list[ListedArray], others: dict[str, str], visited: set[int]) -> None:
        self.file = file
        self.arrays = arrays
        self.others = others
        self.visited = visited
        self.texts: dict[str, tuple[str, ...]] = {}

    def visit_group(self, group: Any, prefix: str, depth: int) -> None:
        address = h5py.h5o.get_info(group.id).addr
        if address in self.visited or depth > MAX_DEPTH:
            return
        self.visited.add(address)
        for name in group.attrs:
            if parse_label_name(name) is not None and (labels := list_texts(group.attrs[name])):
                self.texts[f"{prefix}{name}"] = labels
        for name in group:
            if not prefix and name in MATLAB_GROUPS:
                continue
            link = group.get(name, getlink=True)
            path = f"{prefix}{name}"
            if isinstance(link, h5py.ExternalLink):
                raise RefusedError(
                    f"{path!r} is an external link to another file, which is not followed; {COPY_REMEDY}"
                )
            if isinstance(link, h5py.SoftLink):
                self.others[path] = "a soft link, which is not followed"
                continue
            item = group[name]
            if isinstance(item, h5py.Group):
                self.visit_group(item, f"{path}/", depth + 1)
            elif isinstance(item, h5py.Dataset):
                self.visit_dataset(item, path)
            if len(self.arrays) + len(self.others) + len(self.visited) > MAX_OBJECTS:
                raise RefusedError(f"it has more than {MAX_OBJECTS} groups and datasets; a log has fewer")

    def visit_dataset(self, dataset: Any, path: str) -> None:
        if dataset.is_virtual:
            raise RefusedError(f"{path!r} is a virtual dataset, which may refer to other files; {COPY_REMEDY}")
        if dataset.external:
            raise RefusedError(f"{path!r} stores its data in other files; {COPY_REMEDY}")
        kind = dataset.dtype
        if dataset.shape is None or "MATLAB_empty" in dataset.attrs:
            self.others[path] = "empty"
        elif "MATLAB_object_decode" in dataset.attrs:
            self.others[path] = "a MATLAB object, such as a table or a timeseries; save matrices or structs instead"
        elif labels := self.read_labels(dataset, path):
            self.texts[path] = labels
        elif kind == h5py.ref_dtype:
            self.visit_cells(dataset, path)
        elif kind.names:
            for field in kind.names:
                self.add(f"{path}/{field}", dataset, kind[field], field)
        else:
            self.add(path, dataset, kind, None)

    def read_labels(self, dataset: Any, path: str) -> tuple[str, ...]:
        """Return the texts of a dataset or a cell array of MATLAB whose name is that of joint names, or nothing."""
        if parse_label_name(path) is None or dataset.size > MAX_LABELS:
            return ()
        if h5py.check_string_dtype(dataset.dtype) is not None:
            return list_texts(dataset.asstr(errors="replace")[()])
        if dataset.dtype != h5py.ref_dtype:
            return ()
        cells = [self.file[reference] for reference in dataset[()].ravel(order="C")]
        if not all(isinstance(cell, h5py.Dataset) and cell.attrs.get("MATLAB_class") == b"char" for cell in cells):
            return ()
        return tuple("".join(map(chr, cell[()].ravel().tolist())) for cell in cells if cell.size <= MAX_LABELS)

    def visit_cells(self, dataset: Any, path: str) -> None:
        """List the arrays of a cell array of MATLAB: cell k of q is called qk."""
        if dataset.size > MAX_CELLS:
            self.others[path] = f"a cell array of {dataset.size:,} cells"
            return
        for k, reference in enumerate(dataset[()].ravel(order="C")):
            item = self.file[reference]
            if isinstance(item, h5py.Dataset) and item.dtype != h5py.ref_dtype:
                self.visit_dataset(item, f"{path}{k + 1}")

    def add(self, path: str, dataset: Any, kind: np.dtype[Any], field: str | None) -> None:
        if kind.base.kind not in NUMBERS:
            self.others[path] = f"a dataset of {kind}"
            return
        shape = (*dataset.shape, *kind.shape)
        self.arrays.append(
            ListedArray(
                path,
                shape,
                int(dataset.id.get_storage_size()),
                (lambda: dataset[()]) if field is None else (lambda: dataset.fields(field)[()]),
            )
        )
