"""Persistent excitation: how a motion determines the parameters of each joint."""
