"""The modules that are mutated, and the tests that must notice.

The test file with the path of the module is always among them; here are the others: conformance lists, comparisons with
oracles and papers. Paths are relative to ``src/ytheta`` and ``tests``.
"""

from __future__ import annotations

_FORMULATIONS = ("conformance/test_formulations.py",)
_BASE = ("identifiability/test_base_parameters.py", "conformance/test_base_parameters.py")
_ESTIMATORS = ("conformance/test_estimators.py",)
_PREPARING = ("logs/preparing",)

_SDF = ("robot/reading/sdf",)
_PAYLOAD = ("payload/test_estimation.py",)
_TRAJECTORIES = ("excitation/test_basis.py", "excitation/test_rest_to_rest.py")

TARGETS: dict[str, tuple[str, ...]] = {
    "robot/inertia.py": ("robot/test_robot.py",),
    "robot/structure.py": ("robot/test_robot.py", "robot/reading/test_urdf.py"),
    "robot/modified_dh.py": (),
    "robot/loops/cut_joint.py": ("robot/loops/test_closure.py",),
    "robot/loops/solver.py": ("robot/loops/test_closure.py",),
    "robot/reading/urdf.py": ("robot/reading/test_urdf_extras.py", "robot/reading/test_load.py"),
    "robot/reading/sdf/models.py": _SDF,
    "robot/reading/sdf/joints.py": _SDF,
    "robot/reading/sdf/assembly.py": _SDF,
    "robot/reading/sdf/document.py": _SDF,
    "logs/preparing/derivatives.py": _PREPARING,
    "logs/preparing/filters.py": _PREPARING,
    "logs/preparing/resample.py": _PREPARING,
    "dynamics/formulations/newton_euler.py": _FORMULATIONS,
    "dynamics/formulations/lagrange.py": (
        "dynamics/formulations/test_sixteen.py",
        "dynamics/formulations/test_lagrange_principal_axes.py",
        *_FORMULATIONS,
    ),
    "dynamics/formulations/kronecker.py": ("dynamics/formulations/test_kronecker_transforms.py", *_FORMULATIONS),
    "dynamics/formulations/spatial_tree.py": _FORMULATIONS,
    "dynamics/formulations/minimal_newton_euler.py": (),
    "dynamics/formulations/equivalent_bodies.py": ("dynamics/formulations/test_minimal_newton_euler.py",),
    "dynamics/formulations/composite_newton_euler.py": ("dynamics/test_operation_counts.py",),
    "dynamics/formulations/composite_bodies.py": ("dynamics/formulations/test_composite_newton_euler.py",),
    "dynamics/jacobians.py": ("dynamics/test_frame_jacobian.py",),
    "dynamics/graphs.py": ("dynamics/test_forward_dynamics.py", "dynamics/test_kernels.py"),
    "dynamics/elimination.py": ("dynamics/test_loop_solver.py", "dynamics/test_loop_torque.py"),
    "identifiability/lin.py": _BASE,
    "identifiability/ha.py": _BASE,
    "identifiability/numeric.py": _BASE,
    "identification/equations/normal_equations.py": (
        "identification/equations/test_normal_equations_substitution.py",
        "conformance/test_forms.py",
        *_ESTIMATORS,
    ),
    "identification/estimators/least_squares.py": ("identification/estimators/test_weighted.py", *_ESTIMATORS),
    "identification/estimators/huber.py": _ESTIMATORS,
    "identification/estimators/recursive.py": _ESTIMATORS,
    "identification/equations/autocorrelation.py": (
        "identification/equations/test_hat_matrix.py",
        "identification/test_result.py",
    ),
    "identification/assessment/residuals.py": ("identification/test_result.py", "identification/test_predict.py"),
    "identification/assessment/verdict.py": (
        "identification/assessment/test_prediction_quality.py",
        "identification/assessment/test_diagnosis.py",
    ),
    "identification/torque_model.py": ("identification/test_predict.py",),
    "identification/priors/evidence.py": ("identification/priors/test_bounded_minimum.py",),
    "logs/reading/formats/bag_files.py": tuple(
        f"logs/reading/formats/test_{name}.py" for name in ("bag_folder", "decompression", "mcap", "ros1_bag")
    ),
    "logs/reading/formats/expansion.py": ("logs/reading/formats/test_expansion.py",),
    "logs/reading/formats/parquet.py": ("logs/reading/formats/test_parquet_sizes.py",),
    "engine/limited_process.py": (),
    "engine/child_process.py": ("engine/test_limited_process.py",),
    "excitation/trajectories.py": _TRAJECTORIES,
    "excitation/criteria.py": ("excitation/test_condition.py",),
    "excitation/joint_bounds.py": ("excitation/test_arguments.py", "excitation/test_safe_motion.py"),
    "excitation/solver.py": ("excitation/test_shrink.py", "excitation/test_search.py", "excitation/test_center.py"),
    "excitation/clearance/distance.py": (),
    "payload/attachment.py": _PAYLOAD,
    "payload/posterior.py": ("payload/test_compact_body.py", *_PAYLOAD),
    "payload/estimation.py": ("payload/test_model_errors.py",),
    "payload/verdict.py": ("payload/test_statistics.py", "payload/test_findings.py"),
    "exporting/export.py": ("exporting/test_output.py",),
    "exporting/losses.py": (),
    "exporting/c/definitions.py": (
        "exporting/c/test_number.py",
        "exporting/c/test_names.py",
        "exporting/c/test_statements.py",
    ),
    "exporting/load_settings.py": ("exporting/test_payload.py",),
    "comparison.py": (),
    "control/laws/slotine_li.py": ("conformance/test_control_laws.py",),
    "control/adaptation/composite.py": (),
    "control/adaptation/projection.py": (),
}
