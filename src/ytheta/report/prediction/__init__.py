"""Predicted torques: the output of ``ytheta predict``."""
