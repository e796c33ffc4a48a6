"""Export to CasADi: serialized functions with named inputs and outputs.

``casadi.Function.load`` reads them in Python, C++ and MATLAB, without ytheta. If the path ends in ``.casadi``, it is
the file of one function; otherwise it is a folder with one file per function.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ytheta.arguments import check_words
from ytheta.errors import InputError
from ytheta.exporting.functions import (
    BASE_ORIENTATIONS,
    FUNCTIONS,
    OBSERVER,
    PARAMETER_MODES,
    ROTATION_VECTOR,
    RobotFunction,
    RobotFunctions,
    check_choice,
)
from ytheta.exporting.source import ExportSource, Format

SUFFIX = ".casadi"
CASADI_FUNCTIONS = tuple(name for name in FUNCTIONS if name != OBSERVER)


@dataclass(frozen=True)
class CasadiOptions:
    """Settings of the export to CasADi.

    Attributes
    ----------
    functions   the functions to export; None for inverse dynamics if the path is a file, and for all if it is a folder
    parameters  "baked": the functions contain the values of the parameters; "passed": the base parameters are the last
                input, beta
    base_orientation
                how functions receive the orientation of a floating base: "rotation-vector", "quaternion" (x, y, z, w)
                or "gravity" (in base axes)
    """

    functions: tuple[str, ...] | None = None
    parameters: str = "baked"
    base_orientation: str = ROTATION_VECTOR

    def __post_init__(self) -> None:
        if self.functions is not None:
            for name in check_words("functions", self.functions, "names", CASADI_FUNCTIONS[:2]):
                check_choice("functions", name, CASADI_FUNCTIONS)
        check_choice("parameters", self.parameters, PARAMETER_MODES)
        check_choice("base_orientation", self.base_orientation, BASE_ORIENTATIONS)


def render(source: ExportSource, path: Path, options: CasadiOptions) -> Mapping[Path, bytes]:
    """Return the files of the functions."""
    is_file = path.suffix == SUFFIX
    chosen = options.functions
    if chosen is None:
        chosen = CASADI_FUNCTIONS[:1] if is_file else CASADI_FUNCTIONS
    if is_file and len(chosen) != 1:
        raise InputError(
            f"{path} is one file, but there are {len(chosen)} functions to export; give a folder, or one function"
        )
    functions = RobotFunctions(source.robot, options.parameters, tuple(chosen), options.base_orientation).functions
    return {(path if is_file else path / f"{each.name}{SUFFIX}"): _serialize(each) for each in functions}


def _serialize(function: RobotFunction) -> bytes:
    """Return the file content of a function that has arrays of the right shape as results."""
    import casadi

    graph = function.graph
    inputs = [casadi.SX.sym(entry.name, entry.size) for entry in graph.inputs]
    output = graph.apply(*inputs)
    if len(graph.shape) == 2:
        output = casadi.reshape(output, graph.shape[1], graph.shape[0]).T  # the array is in C order
    names = [entry.name for entry in graph.inputs]
    result = casadi.Function(function.name, inputs, [output], names, [function.output])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{function.name}{SUFFIX}"
        result.save(str(file))
        return file.read_bytes()


CASADI = Format(render, CasadiOptions)
