"""lin1995: minimal linear combinations, the recursion in these combinations, and its identification procedure."""

from ytheta.reproduction.lin1995.paper import reproduce as reproduce
