"""Reproduced papers: the output of ``ytheta reproduce``."""
