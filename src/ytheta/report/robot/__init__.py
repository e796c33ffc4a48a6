"""Robots: the output of ``ytheta inspect``."""
