"""Closed loops: compiled for many runs, or step by step in Python."""
