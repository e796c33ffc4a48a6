"""Readers that run in a child process, because their libraries can fail in ways that cannot be caught."""
