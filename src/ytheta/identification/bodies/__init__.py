"""Physically consistent standard parameters: the bodies nearest to an estimate, references, bounds."""
