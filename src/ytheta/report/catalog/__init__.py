"""The catalog: the output of ``ytheta robots``."""
