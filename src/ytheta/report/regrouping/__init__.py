"""A regrouped Lagrangian: the output of ``ytheta base --method ha`` for a robot with unknown lengths."""
