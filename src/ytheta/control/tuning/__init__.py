"""Suggested gains."""
