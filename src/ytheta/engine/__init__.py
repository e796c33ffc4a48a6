"""Engines: parallel execution of the same work on many items of any kind, by threads or by Dask."""
