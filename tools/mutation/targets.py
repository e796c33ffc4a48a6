"""The modules that are mutated, and the tests that must notice.

The test file with the path of the module is always among them; here are the others: conformance lists, comparisons with
oracles and papers. Paths are relative to ``src/ytheta`` and ``tests``.
"""

from __future__ import annotations

_FORMULATIONS = ("conformance/test_formulations.py",)
_BASE = ("identifiability/test_base_parameters.py", "conformance/test_base_parameters.py")
_ESTIMATORS = ("conformance/test_estimators.py",)
_PREPARING = ("logs/preparing",)

TARGETS: dict[str, tuple[str, ...]] = {
    "robot/inertia.py": ("robot/test_robot.py",),
    "robot/merge.py": ("robot/test_robot.py", "robot/reading/test_urdf.py"),
    "robot/modified_dh.py": (),
    "robot/loops/cut_joint.py": ("robot/loops/test_closure.py",),
    "robot/loops/solver.py": ("robot/loops/test_closure.py",),
    "robot/reading/urdf.py": ("robot/reading/test_load.py",),
    "logs/preparing/derivatives.py": _PREPARING,
    "logs/preparing/filters.py": _PREPARING,
    "logs/preparing/resample.py": _PREPARING,
    "dynamics/formulations/newton_euler.py": _FORMULATIONS,
    "dynamics/formulations/lagrange/lagrange.py": ("dynamics/formulations/test_sixteen.py", *_FORMULATIONS),
    "dynamics/formulations/lagrange/principal_axes.py": (),
    "dynamics/formulations/kronecker/kronecker.py": _FORMULATIONS,
    "dynamics/formulations/kronecker/transforms.py": (),
    "dynamics/formulations/spatial_tree.py": _FORMULATIONS,
    "dynamics/formulations/minimal_newton_euler.py": (),
    "dynamics/formulations/equivalent_bodies.py": ("dynamics/formulations/test_minimal_newton_euler.py",),
    "dynamics/formulations/composite/composite_newton_euler.py": (
        "dynamics/formulations/composite/test_operation_table.py",
    ),
    "dynamics/formulations/composite/composite_bodies.py": (
        "dynamics/formulations/composite/test_composite_newton_euler.py",
    ),
    "dynamics/links/frame_jacobian.py": (),
    "dynamics/forward_dynamics.py": ("dynamics/test_kernels.py",),
    "dynamics/loops/elimination.py": ("dynamics/loops/test_solver.py", "dynamics/loops/test_torque.py"),
    "identifiability/lin.py": _BASE,
    "identifiability/ha.py": _BASE,
    "identifiability/numeric.py": _BASE,
    "identification/equations/normal_equations.py": ("conformance/test_forms.py", *_ESTIMATORS),
    "identification/estimators/weighted.py": _ESTIMATORS,
    "identification/estimators/huber.py": _ESTIMATORS,
    "identification/estimators/recursive.py": _ESTIMATORS,
    "identification/equations/autocorrelation.py": ("identification/test_result.py",),
    "identification/assessment/residuals.py": ("identification/test_result.py", "identification/test_predict.py"),
    "identification/assessment/verdict.py": ("identification/assessment/test_diagnosis.py",),
    "control/laws/slotine_li.py": ("conformance/test_control_laws.py",),
    "control/adaptation/composite.py": (),
    "control/adaptation/projection.py": (),
}
