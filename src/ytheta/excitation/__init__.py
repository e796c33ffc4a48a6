"""Motion that reveals the parameters of a robot and keeps its limits."""
