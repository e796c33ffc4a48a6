"""Checks of a log, and the repairs that are safe."""
