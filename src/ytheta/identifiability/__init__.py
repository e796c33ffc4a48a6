"""Base parameters: which combinations of the standard parameters move the robot, by three independent roads."""
