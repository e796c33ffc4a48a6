"""Speed of the kernels beside that of installed peers, in one run."""
