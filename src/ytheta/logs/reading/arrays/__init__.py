"""Files of nested arrays (HDF5, MATLAB): read in a process of their own, and turned into the columns of a table."""
