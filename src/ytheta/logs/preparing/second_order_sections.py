"""Recursive filters as second-order sections: design, steady state, and filtering.

The functions are equivalent to SciPy's ``butter``, ``sosfilt_zi`` and ``sosfilt``. Importing ``scipy.signal`` takes one
second and 80 MB; therefore only the compiled loop of ``sosfilt`` is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

import numpy as np

from ytheta.shapes import ChannelsBySample, FilterSections, FilterStates, Float

FilterLoop = Callable[[FilterSections, ChannelsBySample, FilterStates], None]
LOOP_MODULE = "scipy.signal._sosfilt"


def design_butterworth(order: int, cutoff: float, rate: float) -> FilterSections:
    """Return a Butterworth low-pass designed by the bilinear transform; poles closest to the unit circle come last."""
    warped = 4.0 * np.tan(np.pi * (2.0 * cutoff / rate) / 2.0)
    analog = warped * -np.exp(1j * np.pi * np.arange(1 - order, order, 2) / (2 * order))
    poles = (4.0 + analog) / (4.0 - analog)
    upper = ((poles + poles[::-1].conj()) / 2.0)[: (order + 1) // 2]  # one of each conjugate pair, then a real one
    sections = [[1.0, 2.0, 1.0, *np.poly([pole, pole.conj()])] for pole in upper[: order // 2]]
    if order % 2:
        sections.append([1.0, 1.0, 0.0, 1.0, -upper[-1].real, 0.0])
    ordered = np.array(sections)[np.argsort(-np.abs(1.0 - np.abs(upper)))]
    ordered[0, :3] *= warped**order * np.real(1.0 / np.prod(4.0 - analog))
    return ordered


def compute_steady_state(sections: FilterSections) -> Float[np.ndarray, "sections 2"]:
    """Return the filter states that stay constant if the input is always 1."""
    states, scale = np.empty((len(sections), 2)), 1.0
    for state, section in zip(states, sections, strict=True):
        b, a = section[:3], section[3:]
        state[:] = scale * np.linalg.solve([[1.0 + a[1], -1.0], [a[2], 1.0]], b[1:] - a[1:] * b[0])
        scale *= b.sum() / a.sum()
    return states


def filter_in_place(sections: FilterSections, channels: ChannelsBySample, states: FilterStates) -> None:
    """Filter the channels in place; ``states`` contains the initial states and is overwritten with the final states."""
    _LOOP(sections, channels, states)


def _load_compiled_loop() -> FilterLoop:
    """Load SciPy's compiled loop under the name of its module, so that a later import of scipy.signal reuses it."""
    package = find_spec("scipy")
    if LOOP_MODULE not in sys.modules and package is not None:
        folders = [f"{folder}/signal" for folder in package.submodule_search_locations or ()]
        spec = PathFinder.find_spec(LOOP_MODULE, folders)
        if spec is None or spec.loader is None:
            return _filter_with_scipy
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[LOOP_MODULE] = module
    loop: FilterLoop = sys.modules[LOOP_MODULE]._sosfilt
    # This call raises an error if the interface of the loop has changed.
    loop(np.array([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]]), np.ones((1, 2)), np.zeros((1, 1, 2)))
    return loop


def _filter_with_scipy(sections: FilterSections, channels: ChannelsBySample, states: FilterStates) -> None:
    from scipy.signal import sosfilt

    channels[:], after = sosfilt(sections, channels, axis=1, zi=states.swapaxes(0, 1))
    states[:] = after.swapaxes(0, 1)


# The loop is loaded here and not at the first call, so that threads do not load it twice. It is private in SciPy; if
# its interface has changed, the public function ``sosfilt`` is used.
try:
    _LOOP: FilterLoop = _load_compiled_loop()
except (ImportError, AttributeError, KeyError, TypeError, ValueError):
    _LOOP = _filter_with_scipy
