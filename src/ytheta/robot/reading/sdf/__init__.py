"""SDFormat, the format of Gazebo: one module for each part of the format; ``reader`` combines them."""
