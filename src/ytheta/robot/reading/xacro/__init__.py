"""xacro files, expanded to URDF by xacrodoc in a process of its own."""
