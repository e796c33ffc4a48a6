"""Inspected robots: the output of ``ytheta inspect``."""
