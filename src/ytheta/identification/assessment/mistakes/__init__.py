"""Mistakes in a description, a log or its mapping: one module per kind, all compared by the same errors."""
