"""Forms of the model: how motion becomes equations; one per file."""
