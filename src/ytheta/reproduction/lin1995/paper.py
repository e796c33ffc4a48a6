"""lin1995: Tables I to III, and the identification of the Stanford arm."""

from __future__ import annotations

from ytheta.reproduction.exhibit import PaperReproduction
from ytheta.reproduction.lin1995.combinations import compare_combinations
from ytheta.reproduction.lin1995.identification import compare_identification
from ytheta.reproduction.lin1995.operations import compare_sums, compare_variables

CITATION = (
    "S.-K. Lin, Minimal Linear Combinations of the Inertia Parameters of a Manipulator, IEEE Transactions on Robotics "
    "and Automation, vol. 11, no. 3, 1995"
)
ABOUT = (
    "Minimal linear combinations of inertia parameters in closed form, the recursion of Newton and Euler in these "
    "combinations, and a recursive procedure that identifies them. Tables II and III are computed by the recursion "
    "itself, which runs on scalars that count the operations on them; the procedure is repeated for the Stanford arm."
)


def reproduce() -> PaperReproduction:
    """Compute Tables I to III and the identification of section IV."""
    exhibits = (compare_combinations(), compare_variables(), compare_sums(), compare_identification())
    return PaperReproduction("lin1995", CITATION, ABOUT, exhibits)
