"""Presentation of results: terminal text, JSON, and self-contained HTML pages."""
