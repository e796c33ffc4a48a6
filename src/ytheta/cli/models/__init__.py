"""Commands about identified models: compare, export, view."""
