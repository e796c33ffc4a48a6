"""Simulation of closed loops: a controller, a plant, a reference trajectory, sensors; one run or thousands."""
