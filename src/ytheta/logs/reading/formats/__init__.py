"""File formats of logs: one module each, from a file to a ColumnTable; and the text of a log file."""
