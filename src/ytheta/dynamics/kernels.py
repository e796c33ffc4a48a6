"""Kernels: regressor, inverse dynamics, forward dynamics and related quantities of a robot, as machine code.

q, qd, qdd and tau have the shape (samples, actuated coordinates), in the order of ``robot.actuated``. Every function
returns a Kernel, or a ClosedKernel if the robot has closed loops. A ClosedKernel closes the loops before it calls its
kernel. ``backend="interpreter"`` is the slow reference implementation.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, Protocol, runtime_checkable

import numpy as np

from ytheta.arguments import check_kind
from ytheta.display import Displayed
from ytheta.errors import InputError
from ytheta.native import About, Block, Kernel, compile_graph
from ytheta.native.cache import find_graph, make_key, store_graph
from ytheta.native.fingerprint import NoFingerprintError, fingerprint, fingerprint_sources
from ytheta.native.graph import Graph, Input, trace
from ytheta.native.kernel import check_batch, check_vectors, raise_not_finite
from ytheta.robot.robot import Robot, check_is_robot
from ytheta.shapes import Float, Int

if TYPE_CHECKING:
    from ytheta.dynamics.constraint import LoopConstraint


@dataclass(frozen=True, eq=False, repr=False)
class ClosedKernel(Displayed):
    """A kernel of a robot with loops, called with the actuated coordinates only.

    It closes the loops for every sample and passes all coordinates to ``kernel``. If the loops of a sample cannot
    close, a call raises ClosureError with the number of the sample and the reason. It is called like a Kernel, and
    ``graph``, ``shape``, ``places``, ``indices`` and ``about`` are those of a Kernel.

    Attributes
    ----------
    loops
        The equations of the loops.
    kernel
        The Kernel of all coordinates.
    """

    loops: LoopConstraint
    kernel: Kernel

    @cached_property
    def graph(self) -> Graph:
        """The graph of ``kernel``, with the actuated coordinates q as first input instead of all coordinates x."""
        graph = self.kernel.graph
        return replace(graph, inputs=(Input("q", len(self.loops.actuated)), *graph.inputs[1:]))

    @property
    def about(self) -> About:
        return self.kernel.about

    @property
    def shape(self) -> tuple[int, ...]:
        return self.kernel.shape

    @property
    def places(self) -> Int[np.ndarray, " nonzeros"]:
        return self.kernel.places

    @property
    def indices(self) -> tuple[Int[np.ndarray, " nonzeros"], ...]:
        return self.kernel.indices

    def __call__(
        self, *arrays: Any, out: np.ndarray | None = None, threads: int | None = None
    ) -> Float[np.ndarray, " samples *shape"]:
        """Return the dense array of every sample; the result is written to ``out``, if given."""
        return self.kernel(*self._close(arrays), out=out, threads=threads)

    def one(self, *vectors: Any) -> Float[np.ndarray, "*shape"]:
        """Return the array of one sample from vectors of shape (size,)."""
        values = check_vectors(self.graph, vectors)
        if not np.isfinite(values[0]).all():
            raise_not_finite(self.graph, values)
        x = self._solve(values[0][None])[0]
        return self.kernel.one(x, *values[1:])

    def blocks(self, *arrays: Any, size: int = 1024) -> Iterator[Block]:
        """Iterate over blocks of at most ``size`` samples, with the structural nonzeros only."""
        return self.kernel.blocks(*self._close(arrays), size=size)

    def _close(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Check the arguments and replace the actuated coordinates by all coordinates."""
        values, _ = check_batch(self.graph, arrays)
        if not np.isfinite(values[0]).all():
            raise_not_finite(self.graph, values)
        return [self._solve(values[0]), *values[1:]]

    def _solve(self, Q: Float[np.ndarray, "samples actuated"]) -> Float[np.ndarray, "samples coordinates"]:
        from ytheta.dynamics.loop_solver import solve  # imported here, since only robots with loops need it

        return solve(self.loops, Q).or_raise().x

    def __repr__(self) -> str:
        inputs = ", ".join(entry.name for entry in self.graph.inputs)
        return f"ClosedKernel({self.graph.name!r}: ({inputs}) → {self.shape}, {self.about.backend})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a ClosedKernel is machine code of this process; send the robot and compile the kernel there")


AnyKernel = Kernel | ClosedKernel


@runtime_checkable
class ParameterBasis(Protocol):
    """Parameters in which the torque is linear, such as ``BaseParameters``: the part that a regressor needs."""

    def check_robot(self, robot: Robot) -> None:
        """Raise an InputError unless the parameters belong to a robot with the same geometry."""

    def find_graph(self, name: str, robot: Robot, options: Mapping[str, Any]) -> Graph:
        """Return the graph with this name: "regressor_graph", "momentum_regressor_graph" or "remainder_graph"."""


def regressor(
    robot: Robot,
    base: ParameterBasis | None = None,
    *,
    parameters: Sequence[str] | None = None,
    formulation: str = "",
    reference: bool = False,
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd, qdd) → Y of the base parameters, of the named parameters, or of all standard parameters.

    ``base`` is the value of ``base_parameters(robot)`` or of ``regroup_lagrangian(robot)``.

    All standard parameters are in the order of ``robot.parameter_names``.

    If ``reference`` is true, the kernel is (q, qd, v, vd) → Y(q, qd, v, vd) with a reference velocity v. Control
    laws of the Slotine-Li kind need this regressor.
    """
    options = {"formulation": formulation, "reference": reference}
    return _compile(robot, _find_graph("regressor_graph", robot, base, parameters, options), backend)


def inverse_dynamics(
    robot: Robot,
    *,
    wrench_at: str | Sequence[str] = (),
    wrench_axes: str = "frame",
    theta_input: bool = False,
    formulation: str = "",
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd, qdd) → tau.

    ``wrench_at`` names a link or a marker, or several of them; an empty list, as by default, stands for none. For each
    of these frames, the wrench that the surroundings exert on the robot is an additional argument: (fx, fy, fz, nx, ny,
    nz), the force at the origin of the frame and then the moment about this origin. ``wrench_axes`` are the axes of the
    components: "frame" means those of the frame itself, "base" those of the robot's base.

    If ``theta_input`` is true, the standard parameters are the last argument, shared by all samples. ``formulation`` is
    newton_euler, minimal_newton_euler or composite_newton_euler. The default is minimal_newton_euler, which has the
    fewest operations, unless the robot has loops or theta is an argument.
    """
    graph = find_or_trace(
        "inverse_dynamics_graph",
        robot,
        wrench_at=wrench_at,
        wrench_axes=wrench_axes,
        theta_input=theta_input,
        formulation=formulation,
    )
    return _compile(robot, graph, backend)


def forward_dynamics(
    robot: Robot,
    *,
    wrench_at: str | Sequence[str] = (),
    wrench_axes: str = "frame",
    method: str = "composite-body",
    formulation: str = "",
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd, tau) → qdd. Wrenches are additional arguments, as in ``inverse_dynamics``.

    The method "composite-body" is fast. The method "inertia-constants" computes mass matrix and torque at zero
    acceleration from the inertia constants of Lin 1995, for trees on a fixed base. The method "regressor" computes them
    from regressors (Lu and Meng 1993, section V), which can be those of any ``formulation``. All give the same numbers,
    except for rounding: the last one subtracts torques, and loses digits in fast motions.
    """
    graph = find_or_trace(
        "forward_dynamics_graph",
        robot,
        wrench_at=wrench_at,
        wrench_axes=wrench_axes,
        theta_input=False,
        method=method,
        formulation=formulation,
    )
    return _compile(robot, graph, backend)


def jacobian(robot: Robot, frame: str, *, axes: str = "frame", backend: str = "llvm") -> AnyKernel:
    """q → J, which maps qd to the motion of a link or marker: velocity of its origin, then its angular velocity.

    ``axes`` are the axes of these velocities: "frame" means those of the frame itself, "base" those of the robot's
    base. Jᵀ maps a wrench in the same axes to the torques that have the same effect.
    """
    return _compile(robot, find_or_trace("jacobian_graph", robot, frame=frame, axes=axes), backend)


def mass_matrix(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """q → M, with rotor inertia."""
    return _compile(robot, find_or_trace("mass_matrix_graph", robot), backend)


def gravity(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """q → the torque that holds the arm at rest against its weight and declared forces."""
    return _compile(robot, find_or_trace("gravity_graph", robot), backend)


def bias(
    robot: Robot,
    *,
    wrench_at: str | Sequence[str] = (),
    wrench_axes: str = "frame",
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd) → the torque at zero acceleration, with friction and declared forces.

    Wrenches are additional arguments, as in ``inverse_dynamics``.
    """
    graph = find_or_trace("bias_graph", robot, wrench_at=wrench_at, wrench_axes=wrench_axes)
    return _compile(robot, graph, backend)


def coriolis_matrix(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → C such that tau = M qdd + C qd + g and Mdot - 2 C is skew-symmetric."""
    return _compile(robot, find_or_trace("coriolis_graph", robot), backend)


def momentum(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → M qd."""
    return _compile(robot, find_or_trace("momentum_graph", robot), backend)


def energy(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd) → kinetic energy of links and rotors, and potential energy of the links, without declared forces."""
    return _compile(robot, find_or_trace("energy_graph", robot), backend)


def momentum_regressor(
    robot: Robot,
    base: ParameterBasis | None = None,
    *,
    parameters: Sequence[str] | None = None,
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd) → W such that W theta = M qd and Y = dW/dt + Yhat. Its columns are in the order of ``regressor``."""
    return _compile(robot, _find_graph("momentum_regressor_graph", robot, base, parameters, {}), backend)


def remainder(
    robot: Robot,
    base: ParameterBasis | None = None,
    *,
    parameters: Sequence[str] | None = None,
    backend: str = "llvm",
) -> AnyKernel:
    """(q, qd) → Yhat = Y - dW/dt: gravity, friction, declared forces and -∂T/∂q."""
    return _compile(robot, _find_graph("remainder_graph", robot, base, parameters, {}), backend)


def _find_graph(
    name: str, robot: Robot, base: ParameterBasis | None, parameters: Sequence[str] | None, options: Mapping[str, Any]
) -> Graph:
    """Return the graph of a regressor in the parameters of ``base``, or in the named standard parameters."""
    if base is None:
        return find_or_trace(name, robot, parameters=parameters, **options)
    if parameters is not None:
        raise InputError("give base parameters or names of standard parameters, not both")
    check_kind("base", base, ParameterBasis, "the value of base_parameters(robot)")
    base.check_robot(robot)
    return base.find_graph(name, robot, options)


def _compile(robot: Robot, graph: Graph, backend: str) -> AnyKernel:
    kernel = compile_graph(graph, backend=backend)
    if not robot.loops:
        return kernel
    from ytheta.dynamics.constraint import build_constraint  # imported here, since only robots with loops need it

    return ClosedKernel(build_constraint(robot), kernel)


# Derivatives of regressors and torques by reverse-mode differentiation: the gradient of a weighted sum of entries.
#
# Identity      pullback(q, qd, qdd, w) = (∂s/∂q, ∂s/∂qd, ∂s/∂qdd) of s = sum_k w_k y_k(q, qd, qdd)
# Notation      y_k   the structural nonzeros of a kernel's array, in the order of ``kernel.places``
# Accepts       every robot; with loops, q are the actuated coordinates, and ∂/∂q = Eᵀ ∂/∂x at closed coordinates x
#
# The gradient takes about as many operations as three evaluations of the array, whatever the number of joints.


DERIVATIVES = 3  # q, qd, qdd


def regressor_pullback(robot: Robot, base: ParameterBasis, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd, qdd, weights) → gradient of the weighted sum of the nonzeros of ``regressor(robot, base)``.

    The result has three rows per sample, the derivatives with respect to q, qd and qdd.
    """
    base.check_robot(robot)
    graph = base.find_graph("regressor_graph", robot, {"formulation": "", "reference": False})
    return _compile(robot, pull_back(robot, graph), backend)


def torque_pullback(robot: Robot, *, backend: str = "llvm") -> AnyKernel:
    """(q, qd, qdd, weights) → gradient of the weighted sum of the nonzeros of ``inverse_dynamics(robot)``."""
    graph = find_or_trace(
        "inverse_dynamics_graph", robot, wrench_at=(), wrench_axes="frame", theta_input=False, formulation=""
    )
    return _compile(robot, pull_back(robot, graph), backend)


def pull_back(robot: Robot, graph: Graph) -> Graph:
    """Return the graph of the gradient of a graph with the inputs q (or x), qd and qdd."""
    import casadi

    symbols = [casadi.SX.sym(entry.name, entry.size) for entry in graph.inputs]
    weights = casadi.SX.sym("weights", len(graph.places))
    total = casadi.dot(weights, graph.function(*symbols))
    gradients = [casadi.densify(casadi.gradient(total, vector)) for vector in symbols]
    if robot.loops:
        from ytheta.dynamics.constraint import build_constraint  # imported here, since only robots with loops need it

        loops = build_constraint(robot)
        gradients[0] = loops.tangent(symbols[0]).T @ gradients[0]
    rows: Any = np.array([[gradient[k] for k in range(len(robot.actuated))] for gradient in gradients], dtype=object)
    inputs = [*zip(graph.inputs, symbols, strict=True), (Input("weights", len(graph.places)), weights)]
    return trace(f"pullback of {graph.name}", inputs, rows, made_from=graph.made_from)


# Reuse of traced graphs: a graph is found again by a fingerprint of everything that determines it.
#
# These are the robot with all its numbers, the function that traces the graph and its options, the versions of CasADi
# and NumPy, and the sources of all packages that take part in tracing. So a kernel that is in the cache needs no
# tracing.


# All packages and modules that are loaded while a graph is traced, relative to ytheta.
TRACING_SOURCES = (
    "arguments.py",
    "conventions.py",
    "display.py",
    "dynamics",
    "engine",
    "errors.py",
    "files",
    "findings.py",
    "native",
    "public_names.py",
    "robot",
    "shapes.py",
)

Arguments = ParamSpec("Arguments")


def reuse_traced_graph(trace_graph: Callable[Arguments, Graph]) -> Callable[Arguments, Graph]:
    """Decorate a function from a robot and options to a graph, so that it is not called again for the same arguments.

    If the sources that this process runs are not known, or if an argument has no fingerprint, nothing is reused.
    """
    signature = inspect.signature(trace_graph)

    @wraps(trace_graph)
    def find_or_call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Graph:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _find_or_call(trace_graph.__name__, bound.arguments, lambda: trace_graph(*args, **kwargs))

    return find_or_call


def find_or_trace(name: str, robot: Robot, **options: Any) -> Graph:
    """Return the graph that the function ``name`` of ``dynamics.graphs`` traces; all its options must be given.

    The formulations and everything else that traces graphs are imported only if the graph is not in the cache.
    """
    check_is_robot(robot)

    def trace_graph() -> Graph:
        graph: Graph = getattr(import_module("ytheta.dynamics.graphs"), name).__wrapped__(robot, **options)
        return graph

    return _find_or_call(name, {"robot": robot, **options}, trace_graph)


def _find_or_call(name: str, arguments: Mapping[str, Any], trace_graph: Callable[[], Graph]) -> Graph:
    sources = fingerprint_sources(*TRACING_SOURCES)
    if sources is None:
        return trace_graph()
    try:
        values = fingerprint(sorted(arguments.items()))
    except NoFingerprintError:
        return trace_graph()
    key = make_key(name, values, describe_versions(), sources)
    graph = find_graph(key)
    if graph is None:
        graph = trace_graph()
        if fingerprint_sources(*TRACING_SOURCES) == sources:  # nothing was changed while the graph was traced
            store_graph(key, graph)
    return graph


@cache
def describe_versions() -> str:
    """Return the versions of the libraries whose results enter a graph."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        casadi_version = version("casadi")  # CasADi itself is not loaded, since kernels from the cache do not need it
    except PackageNotFoundError:  # some distributions install it without this metadata
        import casadi

        casadi_version = casadi.CasadiMeta.version()
    python = ".".join(map(str, sys.version_info[:2]))
    return f"Python {python}, CasADi {casadi_version}, NumPy {np.__version__}"
