"""Checks of a log, and safe repairs."""
