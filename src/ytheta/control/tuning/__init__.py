"""Gains suggested from the inertias of a robot, its reference trajectory and the period of its controller."""
