"""Commands about logs: check."""
