"""Graph → object code, by LLVM.

No C compiler is needed. The object code is position independent and calls nothing but the C library, so it can lie on
disk and be loaded by another process on the same kind of processor.

Compile time grows linearly with the number of operations because LLVM never sees a function longer than LIMIT of
them (see ``program``), and because no pass runs over the module before code generation: CasADi has folded and shared
everything already, and straight-line code has nothing left to gain.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ytheta.errors import MissingExtraError
from ytheta.native.codegen import array_access, tiles
from ytheta.native.codegen.chunks import chunk_functions
from ytheta.native.codegen.layout import Layout
from ytheta.native.codegen.program import program
from ytheta.native.codegen.simd import LIBRARY, declarations, library_function
from ytheta.native.codegen.trigonometry import sine_cosine

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

# Measured: a regressor of 36 000 operations takes 2.7 s to generate in chunks of 2000, 3.2 s in chunks of 500, 4.0 s of
# 5000, 18 s as one function; speed gains a few percent until here. Shorter tiles cost up to 6 % for the way into
# the chunks and back, longer ones as much where dense arrays or many slots leave the nearest cache.
LIMIT = 2000
TILE = 32
_OPTIMISATION = 2
# LLVM puts instructions in the order that suits its model of a processor. That of an AMD EPYC lets far more values live
# at once than there are registers: of a Panda's base regressor 350 are stored and fetched again, with the model of
# skylake 180, and it ran 78 instead of 65 ns on that very EPYC. Shorter graphs hardly differ.
_ORDERED_FOR = "skylake"


@dataclass(frozen=True)
class Host:
    """The processor that code is made for; ``lanes`` are the doubles of its widest registers."""

    triple: str
    cpu: str
    features: str
    lanes: int
    compiler: str

    @property
    def fingerprint(self) -> str:
        """Everything besides the graph that decides what the object code is."""
        python = object.__basicsize__, tuple.__basicsize__, sys.platform, platform.machine()
        return repr((self, LIMIT, TILE, _OPTIMISATION, _generator(), python))


@cache
def host() -> Host:
    """This computer's processor."""
    llvm = binding()
    import llvmlite

    known = llvm.get_host_cpu_features()
    lanes = 8 if known.get("avx512f") else 4 if known.get("avx") else 2
    version = f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), known.flatten(), lanes, version)


def assembly(graph: Graph, *, lanes: int, limit: int = LIMIT, tile: int = TILE) -> str:
    """The LLVM module of a graph, as text."""
    plan = program(graph, limit=limit)
    layout = Layout.of(graph, lanes=lanes, tile=tile, slots=plan.slot_count)
    used = sorted({LIBRARY[name] for name, _ in plan.steps if name in LIBRARY})
    wide = f'"prefer-vector-width"="{64 * lanes}" "min-legal-vector-width"="{64 * lanes}"'
    if platform.machine().lower() in ("x86_64", "amd64"):
        wide += f' "tune-cpu"="{_ORDERED_FOR}"'
    return "\n".join(
        [
            declarations(lanes),
            f"@scratch = constant i64 {layout.starts[-1]}",
            f"@columns = constant i64 {layout.stride}",
            sine_cosine(lanes),
            *(library_function(name, lanes) for name in used),
            *chunk_functions(plan, layout),
            tiles.pack(layout),
            tiles.copy(),
            tiles.unpack(layout),
            tiles.entry(layout, len(plan.chunks), dense=True),
            tiles.entry(layout, len(plan.chunks), dense=False),
            array_access.functions(layout),
            tiles.single(layout),
            f"attributes #0 = {{ noinline nounwind {wide} }}",
            "attributes #1 = { nounwind }",
            f'attributes #2 = {{ noinline nounwind alignstack={8 * lanes} "stackrealign" {wide} }}',
            "!0 = !{}",
        ]
    )


def object_code(graph: Graph, *, lanes: int | None = None, limit: int = LIMIT, tile: int = TILE) -> bytes:
    """The object code of a graph for this computer."""
    text = assembly(graph, lanes=lanes or host().lanes, limit=limit, tile=tile)
    module = binding().parse_assembly(text)
    module.verify()
    emitted: bytes = target_machine().emit_object(module)
    return emitted


def binding() -> Any:
    """LLVM, imported when first needed."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise MissingExtraError(
            'machine code needs llvmlite: pip install llvmlite, or compile with backend="interpreter"'
        ) from error
    return llvm


@cache
def _start() -> None:
    llvm = binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target_machine() -> Any:
    """A code generator for this computer; a new one each time, since an execution engine keeps the one it is given."""
    llvm = binding()
    _start()
    about = host()
    target = llvm.Target.from_triple(about.triple)
    return target.create_target_machine(
        cpu=about.cpu, features=about.features, opt=_OPTIMISATION, reloc="pic", codemodel="jitdefault", jit=True
    )


@cache
def _generator() -> str:
    """A fingerprint of this code generator: its own source, so that no version number can be forgotten."""
    import hashlib

    folder = Path(__file__).parent
    sources = [*sorted(folder.glob("*.py")), folder.parent / "machine.py", folder.parent / "operations.py"]
    try:
        return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    except OSError:  # installed without sources
        from importlib.metadata import version

        return version("ytheta")
