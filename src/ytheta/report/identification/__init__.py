"""The report of an identification."""
