"""Estimators of base parameters; one per file."""
