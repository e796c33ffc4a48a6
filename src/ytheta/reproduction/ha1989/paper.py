"""ha1989: (55)-(61), Figs. 3 to 6 in kind, and Table I."""

from __future__ import annotations

from ytheta.reproduction.exhibit import PaperReproduction
from ytheta.reproduction.ha1989.model import compare_model
from ytheta.reproduction.ha1989.table_1 import compare_table

CITATION = (
    "I.-J. Ha, M.-S. Ko and S. K. Kwon, An Efficient Estimation Algorithm for the Model Parameters of Robotic "
    "Manipulators, IEEE Transactions on Robotics and Automation, 1989"
)
ABOUT = (
    "The Lagrangian of an arm, regrouped to a minimal number of model parameters that contain the unknown lengths, and "
    "their estimation joint by joint, with or without accelerations. The formulas of the SCARA arm are compared as "
    "expressions, Table I as numbers."
)


def reproduce() -> PaperReproduction:
    """Regroup the Lagrangian of the SCARA arm, and estimate its parameters."""
    return PaperReproduction("ha1989", CITATION, ABOUT, (*compare_model(), *compare_table()))
