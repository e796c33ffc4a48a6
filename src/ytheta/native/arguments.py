"""The checks at a kernel's door: what comes in is what the graph expects, or a sentence says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ytheta.errors import InputError

if TYPE_CHECKING:
    from ytheta.native.graph import Graph, Input

_DOUBLE = np.dtype(np.float64)


def check_batch(graph: Graph, arrays: Sequence[Any]) -> tuple[list[np.ndarray], int]:
    """Inputs as contiguous arrays of doubles, and the number of samples (1 if all inputs are shared)."""
    check_count(graph, arrays)
    inputs, taken = graph.inputs, []
    samples, first = None, ""
    for k, given in enumerate(arrays):
        entry = inputs[k]
        array, doubles = given, type(given) is np.ndarray and given.dtype is _DOUBLE
        if not (doubles and (flags := given.flags).c_contiguous and flags.aligned):
            array = _numbers(graph, entry, given)
        taken.append(array)
        shape = array.shape
        if entry.shared:
            if shape != (entry.size,):
                _misshapen(graph, entry, array, f"({entry.size},), one vector for all samples")
            continue
        if len(shape) != 2 or shape[1] != entry.size:
            hint = "; for a single sample use kernel.one" if shape == (entry.size,) else ""
            _misshapen(graph, entry, array, f"(samples, {entry.size}){hint}")
        if samples is None:
            samples, first = shape[0], entry.name
        elif shape[0] != samples:
            raise InputError(
                f"kernel {graph.name!r}: input {entry.name!r} has {len(array)} samples, but {first!r} has {samples}; "
                "give all of them the same number"
            )
    return taken, 1 if samples is None else samples


def check_vectors(graph: Graph, given: Sequence[Any]) -> list[np.ndarray]:
    """Inputs of one sample as vectors of doubles."""
    check_count(graph, given)
    taken = []
    for entry, vector in zip(graph.inputs, given, strict=True):
        numbers = _numbers(graph, entry, vector)
        if numbers.shape != (entry.size,):
            hint = "; for many samples call the kernel itself" if numbers.ndim == 2 else ""
            _misshapen(graph, entry, numbers, f"({entry.size},){hint}")
        taken.append(numbers)
    return taken


def check_count(graph: Graph, given: Sequence[Any]) -> None:
    if len(given) != len(graph.inputs):
        names = ", ".join(entry.name for entry in graph.inputs)
        raise InputError(f"kernel {graph.name!r} takes {len(graph.inputs)} arrays ({names}), not {len(given)}")


def check_output(graph: Graph, shape: tuple[int, ...], out: Any, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """``out`` as the array to write to, if it fits."""
    wrong = ""
    if not isinstance(out, np.ndarray):
        wrong = f"is a {type(out).__name__}"
    elif out.dtype != np.float64:
        wrong = f"has numbers of type {out.dtype}"
    elif out.shape != shape:
        wrong = f"has shape {out.shape}"
    elif not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        wrong = "is not contiguous, aligned and writable"
    elif any(np.may_share_memory(out, array) for array in arrays):
        wrong = "shares memory with an input"
    if wrong:
        raise InputError(f"kernel {graph.name!r}: out {wrong}; it needs to be np.empty({shape})")
    taken: np.ndarray = out
    return taken


def raise_not_finite(graph: Graph, arrays: Sequence[np.ndarray]) -> NoReturn:
    """Name the first number that is not finite."""
    for entry, array in zip(graph.inputs, arrays, strict=True):
        strange = np.argwhere(~np.isfinite(array))
        if len(strange):
            index = tuple(int(i) for i in strange[0])
            where = f"sample {index[0]}, element {index[1]}" if len(index) == 2 else f"element {index[0]}"
            raise InputError(
                f"kernel {graph.name!r}: input {entry.name!r} is {array[index]} at {where} "
                f"({len(strange)} such in all); repair or remove them"
            )
    raise InputError(f"kernel {graph.name!r}: an input was not finite, and was changed while the kernel ran")


def _numbers(graph: Graph, entry: Input, given: Any) -> np.ndarray:
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InputError(f"kernel {graph.name!r}: entries of input {entry.name!r} are masked; leave those samples out")
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InputError(f"kernel {graph.name!r}: input {entry.name!r} is not an array of numbers: {error}") from None
    if array.dtype.kind not in "fiub" and array.size:
        raise InputError(
            f"kernel {graph.name!r}: input {entry.name!r} has entries of type {array.dtype}; real numbers are needed"
        )
    taken = np.require(array, np.float64, ["C", "A"])
    # Types may be equal to that of doubles without being it; machine code tells them apart.
    return taken if taken.dtype is _DOUBLE else taken.view(_DOUBLE)


def _misshapen(graph: Graph, entry: Input, array: np.ndarray, needed: str) -> NoReturn:
    raise InputError(f"kernel {graph.name!r}: input {entry.name!r} has shape {array.shape}, but needs {needed}")
