"""Predicted torques, and the models that predict them."""
