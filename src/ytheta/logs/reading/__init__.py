"""Reading log files: CSV, Parquet, NPZ and ROS 2 bags."""
