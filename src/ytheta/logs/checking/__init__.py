"""Checking logs, and repairing them if the repair is safe."""
