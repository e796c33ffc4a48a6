"""Samples of poses, and the regressor at these poses, for numerical ranks."""
