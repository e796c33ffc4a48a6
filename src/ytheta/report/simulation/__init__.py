"""The report of a simulation."""
