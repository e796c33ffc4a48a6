"""ha1989: the regrouped Lagrangian of a SCARA arm with unknown lengths, and Table I."""

from ytheta.reproduction.ha1989.paper import reproduce as reproduce
