"""Trajectories as files: coefficients, tables of samples, messages of ROS."""
