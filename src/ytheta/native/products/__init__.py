"""Sums over rows of structural nonzeros in machine code, for any number of rows; see ``row_products``."""
