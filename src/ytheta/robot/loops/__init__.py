"""Closing the loops of a robot at one pose."""
