"""Values and certainty of base parameters from measured motion."""
