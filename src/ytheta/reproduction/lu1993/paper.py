"""lu1993: the example of the arm with two joints, general formulas, and Figs. 4 and 5."""

from __future__ import annotations

from ytheta.reproduction.exhibit import PaperReproduction
from ytheta.reproduction.lu1993.control import compare_control
from ytheta.reproduction.lu1993.example import compare_example
from ytheta.reproduction.lu1993.general_formulas import compare_general_formulas
from ytheta.reproduction.lu1993.two_link_arm import draw_arms

CITATION = (
    "W.-S. Lu and Q.-H. Meng, Regressor Formulation of Robot Dynamics: Computation and Applications, IEEE Transactions "
    "on Robotics and Automation, 1993"
)
ABOUT = (
    "Two formulations of the regressor, by Lagrange's equation and by a recursion, and an adaptive controller that "
    "uses it. Every printed formula of the example is compared with the formulations in exact rational arithmetic, and "
    "the simulations of section V-B are repeated."
)


def reproduce() -> PaperReproduction:
    """Compute the example, the general formulas, and the simulations of section V-B."""
    arms = draw_arms()
    exhibits = (*compare_example(arms), *compare_general_formulas(arms), *compare_control())
    return PaperReproduction("lu1993", CITATION, ABOUT, exhibits)
