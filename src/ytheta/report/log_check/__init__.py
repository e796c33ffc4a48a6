"""Checked logs: columns, conversions, plausibility, motion."""
