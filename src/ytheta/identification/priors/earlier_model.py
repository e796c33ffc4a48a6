"""The prior from an earlier model: its parameters, and their covariance times a factor that the data choose.

The model file contains base parameters with their covariance. In directions that the earlier logs did not determine,
the width is that of the prior around the bodies of the model. A factor for all widths is the only hyperparameter: it is
one if the robot has not changed, and large if it has; never less than one.
"""

from __future__ import annotations

import numpy as np

from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.bodies.reference import make_plausible_reference
from ytheta.identification.equations.normal_equations import NormalEquations
from ytheta.identification.priors.description import describe_like, make_description_prior
from ytheta.identification.priors.evidence import Evidence, Information, Posterior
from ytheta.identification.priors.prior import Family, Hyperparameter, Prior
from ytheta.identification.priors.settings import EarlierModel

CHANGE = Hyperparameter("change since the earlier model", 0.0, 1.0, minimum=0.0)
# Eigenvalues of the model's covariance relative to the largest, each in units of its own deviations; smaller ones are
# rounding errors of the file.
MIN_RELATIVE_VARIANCE = 1e-14


def make_model_prior(base: BaseParameters, equations: NormalEquations, model: EarlierModel) -> Prior:
    """Return the prior around an earlier model."""
    described = describe_like(base.robot, model.base.robot)
    wide = make_description_prior(base, equations, make_plausible_reference(described), described.theta)
    hyper = np.array([each.mean for each in wide.hyper])
    known = np.zeros((len(hyper), len(hyper)))
    posterior = Posterior(Evidence(_read_information(model), wide, _select_columns(base, model)), hyper, known)
    values, vectors = np.linalg.eigh(posterior.reduced_covariance)
    axes = wide.axes * posterior.scales @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    count = axes.shape[1]
    return Prior(
        names=wide.names,
        mean=posterior.theta,
        axes=axes,
        families=(Family.MODEL,) * count,
        hyper=(CHANGE,),
        design=np.ones((count, 1)),
        offset=np.zeros(count),
    )


def _read_information(model: EarlierModel) -> Information:
    """Return the information of the earlier logs: the inverse of the covariance, as a factor."""
    std = np.sqrt(np.diag(model.covariance))
    scale = np.where(std > 0.0, std, np.inf)  # a deviation of zero stands for "not determined"
    values, vectors = np.linalg.eigh(model.covariance / np.outer(scale, scale))
    kept = values > MIN_RELATIVE_VARIANCE * values.max(initial=0.0)
    return Information(model.beta, vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None])


def _select_columns(base: BaseParameters, model: EarlierModel) -> np.ndarray:
    """Return K of the earlier model for the parameters that are selected now; others did not exist then."""
    places = {name: k for k, name in enumerate(model.base.robot.parameter_names)}
    K = np.zeros((len(model.base), len(base.selected)))
    for column, name in enumerate(base.selected):
        if name in places:
            K[:, column] = model.base.K[:, places[name]]
    return K
