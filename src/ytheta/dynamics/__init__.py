"""Robot dynamics: formulations, closed loops, graphs of whole robots, and the kernels compiled from them."""
