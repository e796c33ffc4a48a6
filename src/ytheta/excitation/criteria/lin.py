"""Lin's condition numbers of the joints' own equations, A_i w_i = gamma_i, as a criterion.

Identity      Y_i C = [… A_i …], with beta = C w, so that A_iᵀ A_i is a block of Cᵀ G_i C
Reference     [lin1995] sec. IV, (107), (117)
Accepts       serial arms; see ``identification.estimators.lin.serial_arm``
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ytheta.excitation.criteria.condition import log_condition, scale_columns, smooth_log_scaled_condition
from ytheta.excitation.criteria.information import Grams
from ytheta.identifiability.base_parameters import BaseParameters
from ytheta.identification.estimators.lin_serial_arm import SerialArm
from ytheta.shapes import Float


@dataclass(frozen=True, eq=False)
class LinCondition:
    """Logarithm of the largest condition number of A_i with columns scaled to length one.

    ``blocks`` are the columns of C that belong to w_i, for the joint of each G_i; a joint without parameters of its own
    has no columns.
    """

    blocks: tuple[Float[np.ndarray, "base _"], ...]

    @classmethod
    def of(cls, base: BaseParameters) -> LinCondition:
        arm = SerialArm.of(base)
        columns = {place: arm.C[:, arm.find_slice(i)] for i, place in enumerate(arm.places)}
        return cls(tuple(columns[k] for k in range(len(columns))))

    @property
    def name(self) -> str:
        return "lin"

    def evaluate(self, grams: Grams, sharpness: float) -> tuple[float, Grams]:
        values = np.zeros(len(grams))
        sensitivities = np.zeros_like(grams)
        for k, (gram, C) in enumerate(zip(grams, self.blocks, strict=True)):
            if C.shape[1] > 1:
                values[k], inner = smooth_log_scaled_condition(C.T @ gram @ C, sharpness)
                sensitivities[k] = C @ inner @ C.T
        parts = np.exp(sharpness * (values - values.max()))
        total = float(np.log(parts.sum()) / sharpness + values.max())
        return total, sensitivities * (parts / parts.sum())[:, None, None]

    def measure(self, grams: Grams) -> float:
        pairs = zip(grams, self.blocks, strict=True)
        return max(log_condition(scale_columns(C.T @ gram @ C)) if C.shape[1] > 1 else 0.0 for gram, C in pairs)
