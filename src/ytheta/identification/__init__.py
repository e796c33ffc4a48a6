"""Identification of base parameters from measured motion: equations, estimators, assessment."""
