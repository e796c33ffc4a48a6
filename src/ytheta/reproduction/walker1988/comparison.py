"""The exhibits of Walker (1988).

The scan has no figures, and the paper gives neither dimensions nor masses, gains or trajectories; it simulates nothing.
What its text says about the arm of Figures 1 and 3 is compared number by number. Its theorem is tested on the arm
``walker`` of the catalog.
"""

from __future__ import annotations

from ytheta.reproduction.exhibit import PaperReproduction
from ytheta.reproduction.walker1988.loop_equations import compare_loop_equations
from ytheta.reproduction.walker1988.simulations import simulate_arm
from ytheta.reproduction.walker1988.stability import compare_proof
from ytheta.reproduction.walker1988.structure import compare_links, compare_tree
from ytheta.reproduction.walker1988.tracking import compare_tracking
from ytheta.reproduction.walker1988.virtual_work import compare_virtual_work
from ytheta.robot.reading.load import load

CITATION = (
    "M. W. Walker, Adaptive Control of Manipulators Containing Closed Kinematic Loops, Robotics Research Laboratory, "
    "University of Michigan, 1988"
)
ABOUT = (
    "A binary tree of links, inverse dynamics without constraint forces and an adaptive controller for robots with "
    "closed loops. The paper proves stability and simulates nothing. Its example arm is the robot walker of the "
    "catalog, with dimensions, masses and friction chosen there."
)


def reproduce() -> PaperReproduction:
    """Compare the statements of the paper about its example arm, and its theorem, with ytheta."""
    robot = load("walker")
    runs = simulate_arm()
    return PaperReproduction(
        "walker1988",
        CITATION,
        ABOUT,
        (
            compare_links(robot),
            compare_tree(robot),
            compare_loop_equations(robot),
            compare_virtual_work(robot),
            compare_proof(runs),
            compare_tracking(runs),
        ),
    )
