"""Files of nested arrays (HDF5, MATLAB): read in a child process, and turned into the columns of a table."""
