"""Suggested gains, from the inertias of a robot, the motion it is to make, and the controller's period."""
