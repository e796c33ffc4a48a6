"""Clearance: margins of distance between links, obstacles and the workspace, as constraints of a path."""
