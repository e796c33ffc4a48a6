"""Assessment of an estimate: residuals, excitation, diagnosis, verdict."""
