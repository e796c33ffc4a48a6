"""Priors around a description or an earlier model, and the evidence by which the data choose their strength."""
