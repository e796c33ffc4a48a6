"""Options of commands that have many, and the parsing of their values."""
