"""From Robot to Graph: one paper, one module."""
