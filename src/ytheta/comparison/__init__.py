"""``compare``: two or more models of the same robot side by side."""
