"""Measured motion: reading logs, checking them, filtering and differentiating."""
