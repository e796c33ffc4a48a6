"""Export to URDF and MJCF: the source file with new inertias and friction, or a new file."""
