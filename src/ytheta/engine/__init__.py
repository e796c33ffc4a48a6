"""Engines: parallel execution of the same work on many items, by threads or by Dask; independent of robots."""
