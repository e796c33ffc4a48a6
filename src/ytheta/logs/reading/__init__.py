"""Log files: CSV, Parquet, NPZ, ROS bags."""
