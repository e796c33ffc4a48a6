"""Recursive filters as second-order sections: their design, their state at rest, and their run over channels.

These are ``butter``, ``sosfilt_zi`` and ``sosfilt`` of SciPy. But ``scipy.signal`` loads statistics, optimisation and
interpolation with it, 80 megabytes and a second, of which a log needs one compiled loop: that is loaded by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

import numpy as np

from ytheta.shapes import ChannelsBySample, FilterSections, FilterStates, Float

Loop = Callable[[FilterSections, ChannelsBySample, FilterStates], None]
NAME = "scipy.signal._sosfilt"


def butterworth(order: int, cutoff: float, rate: float) -> FilterSections:
    """A Butterworth low-pass by the bilinear transform; the poles closest to the unit circle come last."""
    warped = 4.0 * np.tan(np.pi * (2.0 * cutoff / rate) / 2.0)
    analog = warped * -np.exp(1j * np.pi * np.arange(1 - order, order, 2) / (2 * order))
    poles = (4.0 + analog) / (4.0 - analog)
    above = ((poles + poles[::-1].conj()) / 2.0)[: (order + 1) // 2]  # one of each pair, then the real one
    sections = [[1.0, 2.0, 1.0, *np.poly([pole, pole.conj()])] for pole in above[: order // 2]]
    if order % 2:
        sections.append([1.0, 1.0, 0.0, 1.0, -above[-1].real, 0.0])
    found = np.array(sections)[np.argsort(-np.abs(1.0 - np.abs(above)))]
    found[0, :3] *= warped**order * np.real(1.0 / np.prod(4.0 - analog))
    return found


def at_rest(sections: FilterSections) -> Float[np.ndarray, "sections 2"]:
    """The states in which a constant input of 1 leaves everything as it is."""
    states, scale = np.empty((len(sections), 2)), 1.0
    for state, section in zip(states, sections, strict=True):
        b, a = section[:3], section[3:]
        state[:] = scale * np.linalg.solve([[1.0 + a[1], -1.0], [a[2], 1.0]], b[1:] - a[1:] * b[0])
        scale *= b.sum() / a.sum()
    return states


def run(sections: FilterSections, channels: ChannelsBySample, states: FilterStates) -> None:
    """Filter the channels from their first sample on, in place; states become those after the last."""
    _LOOP(sections, channels, states)


def _compiled() -> Loop:
    """SciPy's compiled loop, loaded under its own name: where scipy.signal is wanted later, it finds it there."""
    package = find_spec("scipy")
    if NAME not in sys.modules and package is not None:
        spec = PathFinder.find_spec(NAME, [f"{place}/signal" for place in package.submodule_search_locations or ()])
        if spec is None or spec.loader is None:
            return _public
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[NAME] = module
    loop: Loop = sys.modules[NAME]._sosfilt
    loop(np.array([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]]), np.ones((1, 2)), np.zeros((1, 1, 2)))  # takes what ours gives it
    return loop


def _public(sections: FilterSections, channels: ChannelsBySample, states: FilterStates) -> None:
    from scipy.signal import sosfilt

    channels[:], after = sosfilt(sections, channels, axis=1, zi=states.swapaxes(0, 1))
    states[:] = after.swapaxes(0, 1)


# Loaded here and not at the first call, since threads must not load it twice. The loop is not part of SciPy's promises.
try:
    _LOOP: Loop = _compiled()
except (ImportError, AttributeError, KeyError, TypeError, ValueError):
    _LOOP = _public
