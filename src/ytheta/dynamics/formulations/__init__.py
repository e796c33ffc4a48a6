"""Formulations of the equations of motion: one paper, one module."""
