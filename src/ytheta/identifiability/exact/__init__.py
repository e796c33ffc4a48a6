"""Exact arithmetic for ranks without a tolerance."""
