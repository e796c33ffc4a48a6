"""The tables and figures of the five papers, computed again and compared with their print: ``ytheta reproduce``."""
