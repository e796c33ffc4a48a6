"""The prior from an earlier model: its parameters, and their covariance times a factor that the data choose.

The model file contains base parameters with their covariance, which contains the prior of the earlier identification.
In directions that no base parameter contains, the width is that of the prior around the bodies of the model. A factor
for all widths is the only hyperparameter: it is one if the robot has not changed, and large if it has; never less than
one.
"""

from __future__ import annotations

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.bodies.reference import make_plausible_reference
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.priors.description import describe_like, make_description_prior
from ytheta.identification.priors.prior import Family, Hyperparameter, Prior, invert_rows
from ytheta.identification.priors.settings import EarlierModel
from ytheta.shapes import BaseByBase, BaseBySelected, Float, PerBase

CHANGE = Hyperparameter("change since the earlier model", 0.0, 1.0, minimum=0.0)
ROUNDING_VARIANCE = 1e-12  # of a standardized parameter; keeps rounding errors from making the covariance indefinite


def make_model_prior(base: BaseParameters, equations: NormalEquations, model: EarlierModel) -> Prior:
    """Return the prior around an earlier model."""
    described = describe_like(base.robot, model.base.robot)
    wide = make_description_prior(base, equations, make_plausible_reference(described), described.theta)
    axes = wide.axes * wide.compute_scales(np.array([each.mean for each in wide.hyper]))
    columns, beta = _select_columns(base, model)
    effect = columns @ axes
    B = axes @ invert_rows(effect)
    rest = axes - B @ effect
    covariance = rest @ rest.T + B @ _fill_unknown_variances(model, effect) @ B.T
    std = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(std, std) + ROUNDING_VARIANCE * np.eye(len(std))
    count = len(std)
    return Prior(
        names=wide.names,
        mean=wide.mean + B @ (beta - columns @ wide.mean),
        axes=std[:, None] * np.linalg.cholesky(correlation),
        families=(Family.MODEL,) * count,
        hyper=(CHANGE,),
        design=np.ones((count, 1)),
        offset=np.zeros(count),
    )


def _fill_unknown_variances(model: EarlierModel, effect: Float[np.ndarray, "base coordinates"]) -> BaseByBase:
    """Return the covariance of the model; a variance of zero, "not determined", becomes that of the prior."""
    unknown = np.diag(model.covariance) == 0.0
    return np.asarray(model.covariance + np.diag(np.where(unknown, np.sum(effect**2, axis=1), 0.0)))


def _select_columns(base: BaseParameters, model: EarlierModel) -> tuple[BaseBySelected, PerBase]:
    """Return K of the earlier model for the parameters that are selected now, and beta without all others.

    Parameters that are not selected now keep the values of the robot; those that it does not have are zero.
    """
    values = dict(zip(base.robot.parameter_names, base.robot.theta.tolist(), strict=True))
    selected = {name: column for column, name in enumerate(base.selected)}
    K, beta = np.zeros((len(model.base), len(selected))), model.beta.copy()
    for place, name in enumerate(model.base.robot.parameter_names):
        if name in selected:
            K[:, selected[name]] = model.base.K[:, place]
        else:
            beta -= model.base.K[:, place] * values.get(name, 0.0)
    return K, beta
