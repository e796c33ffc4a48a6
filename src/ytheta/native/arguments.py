"""Checks of the arrays that a kernel is called with.

Each check returns the arrays as contiguous doubles or raises an InputError that names the input and the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.native.graph import Graph, Input


def check_batch(graph: Graph, arrays: Sequence[Any]) -> tuple[tuple[np.ndarray, ...], int]:
    """Return the inputs as contiguous arrays of doubles, and the number of samples (1 if all inputs are shared)."""
    check_count(graph, arrays)
    inputs, checked = graph.inputs, []
    samples, first = None, ""
    for k, argument in enumerate(arrays):
        entry = inputs[k]
        array = _to_doubles(graph, entry, argument)
        checked.append(array)
        shape = array.shape
        if entry.shared:
            if shape != (entry.size,):
                _raise_wrong_shape(graph, entry, array, f"({entry.size},), one vector for all samples")
            continue
        if len(shape) != 2 or shape[1] != entry.size:
            hint = "; for a single sample use kernel.one" if shape == (entry.size,) else ""
            _raise_wrong_shape(graph, entry, array, f"(samples, {entry.size}){hint}")
        if samples is None:
            samples, first = shape[0], entry.name
        elif shape[0] != samples:
            raise InputError(
                f"kernel {graph.name!r}: input {entry.name!r} has {len(array)} samples, but {first!r} has {samples}; "
                "give all inputs the same number of samples"
            )
    return tuple(checked), 1 if samples is None else samples


def check_vectors(graph: Graph, arrays: Sequence[Any]) -> tuple[np.ndarray, ...]:
    """Return the inputs of one sample as vectors of doubles."""
    check_count(graph, arrays)
    checked = []
    for entry, argument in zip(graph.inputs, arrays, strict=True):
        vector = _to_doubles(graph, entry, argument)
        if vector.shape != (entry.size,):
            hint = "; for many samples call the kernel itself" if vector.ndim == 2 else ""
            _raise_wrong_shape(graph, entry, vector, f"({entry.size},){hint}")
        checked.append(vector)
    return tuple(checked)


def check_count(graph: Graph, arrays: Sequence[Any]) -> None:
    """Raise an InputError unless there are as many arrays as the graph has inputs."""
    if len(arrays) != len(graph.inputs):
        names = ", ".join(entry.name for entry in graph.inputs)
        raise InputError(f"kernel {graph.name!r} takes {len(graph.inputs)} arrays ({names}), not {len(arrays)}")


def check_output(graph: Graph, shape: tuple[int, ...], out: Any, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return ``out`` if results of this shape can be written to it; otherwise raise an InputError."""
    problem = ""
    if not isinstance(out, np.ndarray):
        problem = f"is a {type(out).__name__}"
    elif out.dtype != np.float64:
        problem = f"has numbers of type {out.dtype}"
    elif out.shape != shape:
        problem = f"has shape {out.shape}"
    elif not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        problem = "is not contiguous, aligned and writable"
    elif any(np.may_share_memory(out, array) for array in arrays):
        problem = "shares memory with an input"
    if problem:
        raise InputError(f"kernel {graph.name!r}: out {problem}; use np.empty({shape})")
    checked: np.ndarray = out
    return checked


def raise_not_finite(graph: Graph, arrays: Sequence[np.ndarray]) -> NoReturn:
    """Raise an InputError that names the first number that is not finite."""
    for entry, array in zip(graph.inputs, arrays, strict=True):
        not_finite = np.argwhere(~np.isfinite(array))
        if len(not_finite):
            index = tuple(int(i) for i in not_finite[0])
            where = f"sample {index[0]}, element {index[1]}" if len(index) == 2 else f"element {index[0]}"
            raise InputError(
                f"kernel {graph.name!r}: input {entry.name!r} is {array[index]} at {where} "
                f"({len(not_finite)} such values in total); repair or remove them"
            )
    raise InputError(f"kernel {graph.name!r}: an input was not finite, but was changed while the kernel ran")


def _to_doubles(graph: Graph, entry: Input, argument: Any) -> np.ndarray:
    if isinstance(argument, np.ma.MaskedArray) and np.ma.is_masked(argument):
        raise InputError(f"kernel {graph.name!r}: entries of input {entry.name!r} are masked; leave those samples out")
    try:
        array = np.asarray(argument)
    except ValueError as error:
        raise InputError(f"kernel {graph.name!r}: input {entry.name!r} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub" and array.size:
        raise InputError(
            f"kernel {graph.name!r}: input {entry.name!r} has entries of type {array.dtype}; real numbers are needed"
        )
    return np.require(array, np.float64, ["C", "A"])


def _raise_wrong_shape(graph: Graph, entry: Input, array: np.ndarray, needed: str) -> NoReturn:
    raise InputError(f"kernel {graph.name!r}: input {entry.name!r} has shape {array.shape}, but needs {needed}")
