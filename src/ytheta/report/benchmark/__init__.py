"""A benchmark, as plain data and for a terminal."""
