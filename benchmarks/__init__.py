"""Benchmarks: times of ytheta relative to those of a peer that is measured in the same session.

Each time is the shortest of several measurements, because other processes disturb measurements on shared machines.
"""
