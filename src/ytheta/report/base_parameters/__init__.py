"""Base parameters: the output of ``ytheta base``."""
