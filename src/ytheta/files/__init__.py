"""Files: atomic writes, bounded reading, TOML tables, XML documents, expressions parsed without eval."""
