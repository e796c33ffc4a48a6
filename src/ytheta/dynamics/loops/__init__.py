"""Closed loops: constraints between coordinates, and their solution."""
