"""Elements of MJCF that generate others: copies of a part, and parts of other models."""
