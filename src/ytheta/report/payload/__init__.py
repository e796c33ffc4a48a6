"""An estimated payload, as plain data and for a terminal."""
