"""Sizes that binary logs declare, compared with the file before a library believes them."""
