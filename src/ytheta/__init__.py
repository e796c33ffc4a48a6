"""ytheta."""
