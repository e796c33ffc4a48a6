"""Adaptation laws, one per file."""
