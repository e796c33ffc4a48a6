"""Compilation of a graph to object code by LLVM.

No C compiler is needed. The object code is position independent and calls only the C library and functions of Python's
stable ABI, so it can be stored on disk and loaded by another process on the same kind of processor.

Compile time grows linearly with the number of operations, because no function is longer than MAX_CHUNK_STEPS (see
``program``) and no optimization pass runs before code generation: CasADi has already folded constants and shared common
subexpressions, and passes gain nothing on such straight-line code.
"""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ytheta.errors import MissingExtraError
from ytheta.native.codegen import python_abi
from ytheta.native.codegen.simd import C_FUNCTIONS, emit_c_function, emit_declarations

if TYPE_CHECKING:
    from ytheta.native.graph import Graph

# docs/dynamics.md has the measurements that led to these four constants. Longer chunks make the code slightly faster,
# but compile time grows faster than linearly with their length.
MAX_CHUNK_STEPS = 2000
# In shorter tiles, chunks are called more often. Longer tiles may exceed the level-1 cache.
TILE_SAMPLES = 32
_OPTIMIZATION_LEVEL = 2
# LLVM orders instructions by its model of a processor. With its models of some other processors, far more values are
# live at once than there are registers.
_SCHEDULING_MODEL = "skylake"


@dataclass(frozen=True)
class Host:
    """The processor that code is generated for; ``lanes`` is the number of doubles in its widest registers."""

    triple: str
    cpu: str
    features: str
    lanes: int
    compiler: str

    @property
    def fingerprint(self) -> str:
        """The data that determine the object code, apart from the graph and the sources of the code generator."""
        return repr((self, MAX_CHUNK_STEPS, TILE_SAMPLES, _OPTIMIZATION_LEVEL, sys.platform, platform.machine()))


@cache
def detect_host() -> Host:
    """Return the processor of this computer."""
    llvm = load_llvm()
    import llvmlite

    features = llvm.get_host_cpu_features()
    lanes = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    version = f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), lanes, version)


def emit_module(graph: Graph, *, lanes: int, max_steps: int = MAX_CHUNK_STEPS, tile: int = TILE_SAMPLES) -> str:
    """Return the LLVM module of a graph as text, with chunks of ``max_steps`` steps and tiles of ``tile`` samples."""
    # The code generator is imported here, since kernels from the cache do not need it.
    from ytheta.native.codegen import tiles
    from ytheta.native.codegen.entry_points import compute_scratch_bytes, emit_entry_points
    from ytheta.native.codegen.program import Layout, build_program
    from ytheta.native.codegen.trigonometry import emit_sine_cosine

    program = build_program(graph, max_steps=max_steps)
    layout = Layout.of(graph, lanes=lanes, tile=tile, slots=program.slot_count)
    c_functions = sorted({C_FUNCTIONS[name] for name, _ in program.steps if name in C_FUNCTIONS})
    options = format_options(lanes)
    return "\n".join(
        [
            emit_declarations(lanes),
            python_abi.emit_declarations(),
            f"@scratch = constant i64 {compute_scratch_bytes(layout)}",
            f"@columns = constant i64 {layout.stride}",
            f"@block_samples = constant i64 {layout.block_samples}",
            emit_sine_cosine(lanes),
            *(emit_c_function(name, lanes) for name in c_functions),
            *tiles.emit_chunks(program, layout),
            tiles.emit_pack(layout),
            tiles.emit_copy(),
            tiles.emit_unpack(layout),
            tiles.emit_write_dense(layout, len(program.chunks)),
            tiles.emit_write_block(layout, len(program.chunks)),
            tiles.emit_feed_blocks(layout),
            python_abi.emit_acquire_array(),
            python_abi.emit_acquire_bytes(),
            python_abi.emit_release(),
            emit_entry_points(layout),
            f"attributes #0 = {{ noinline nounwind {options} }}",
            "attributes #1 = { nounwind }",
            f'attributes #2 = {{ noinline nounwind alignstack={8 * lanes} "stackrealign" {options} }}',
            "!0 = !{}",
        ]
    )


def emit_object(
    graph: Graph, *, lanes: int | None = None, max_steps: int = MAX_CHUNK_STEPS, tile: int = TILE_SAMPLES
) -> bytes:
    """Return the object code of a graph for this computer."""
    text = emit_module(graph, lanes=lanes or detect_host().lanes, max_steps=max_steps, tile=tile)
    return compile_module(text)


def format_options(lanes: int) -> str:
    """Return the attributes of functions that compute with vectors of this length."""
    options = f'"prefer-vector-width"="{64 * lanes}" "min-legal-vector-width"="{64 * lanes}"'
    if platform.machine().lower() in ("x86_64", "amd64"):
        options += f' "tune-cpu"="{_SCHEDULING_MODEL}"'
    return options


def compile_module(text: str) -> bytes:
    """Return the object code of a module for this computer."""
    machine = create_target_machine()  # it initializes LLVM, which must come first
    module = load_llvm().parse_assembly(text)
    module.verify()
    code: bytes = machine.emit_object(module)
    return code


def load_llvm() -> Any:
    """Import LLVM when it is first needed."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise MissingExtraError(
            'machine code needs llvmlite: pip install llvmlite, or compile with backend="interpreter"'
        ) from error
    return llvm


@cache
def _initialize_llvm() -> None:
    llvm = load_llvm()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def create_target_machine() -> Any:
    """Return a new code generator for this computer; it is used once, since an execution engine takes ownership."""
    llvm = load_llvm()
    _initialize_llvm()
    host = detect_host()
    target = llvm.Target.from_triple(host.triple)
    return target.create_target_machine(
        cpu=host.cpu, features=host.features, opt=_OPTIMIZATION_LEVEL, reloc="pic", codemodel="jitdefault", jit=True
    )
