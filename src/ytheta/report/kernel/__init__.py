"""Kernels: inputs, output, operations and machine code."""
