"""The columns of a table that contain the quantities of a log: their names, families and places."""
