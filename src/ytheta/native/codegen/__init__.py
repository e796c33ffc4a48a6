"""Code generation: the operations of a graph as LLVM assembly."""
