"""Other forms of tables: one row per joint, vectors in cells, times in two columns."""
