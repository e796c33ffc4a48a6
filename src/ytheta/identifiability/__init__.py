"""Base parameters: the combinations of standard parameters that affect the motion, by three independent methods."""
