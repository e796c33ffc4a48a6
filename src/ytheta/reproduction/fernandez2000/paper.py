"""fernandez2000: the regressor by Kronecker products, and Figs. 1 to 4."""

from __future__ import annotations

from ytheta.reproduction.exhibit import PaperReproduction
from ytheta.reproduction.fernandez2000.equations import compare_equations
from ytheta.reproduction.fernandez2000.figures import compare_figures

CITATION = (
    "J. C. Fernández, L. Peñalver, V. Hernández and J. Tornero, Properties and Data Structures for Efficient Adaptive "
    "Control Algorithms in Robot Manipulators, IFAC, 2000"
)
ABOUT = (
    "The regressor of Lagrange and Euler by Kronecker products, column operator and row-trace, and its use in the "
    "adaptive controller of Slotine and Li. The equations are evaluated for a PUMA at a random state and compared with "
    "other formulations; the simulation of section 5 is repeated in kind."
)


def reproduce() -> PaperReproduction:
    """Compute the equations and Fig. 1 to 4."""
    return PaperReproduction("fernandez2000", CITATION, ABOUT, (*compare_equations(), *compare_figures()))
