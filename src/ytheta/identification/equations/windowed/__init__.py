"""Equation forms without accelerations: equations over windows of time."""
