"""Benchmarks: times relative to a peer in the same run, each the best of several, because shared machines are noisy."""
