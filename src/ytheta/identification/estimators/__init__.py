"""Estimators of base parameters; one method per module."""
