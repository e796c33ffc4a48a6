"""A log: its size, its columns and its findings."""
