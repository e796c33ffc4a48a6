"""A designed trajectory as JSON, terminal tables and a page."""
