"""Feedback laws of Walker's controller, one per file, and the conditions of its stability proof."""
