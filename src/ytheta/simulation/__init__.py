"""Closed loops: plants, integration, batches of runs."""
