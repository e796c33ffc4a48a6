"""Closed loops in graphs and for many samples: the constraint between coordinates, and its solution."""
