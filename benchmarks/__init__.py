"""Benchmarks: ratios to a peer in the same run, the best of several runs each, since shared machines are noisy."""
