"""Exact arithmetic for base parameters: rational geometry, polynomials in sines and cosines, symbolic lengths."""
