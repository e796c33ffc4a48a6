"""The search for the best trajectory."""
