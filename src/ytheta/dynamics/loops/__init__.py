"""Closed loops in graphs and for many samples: the constraints between coordinates, and their solution."""
