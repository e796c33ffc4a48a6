"""What an estimate is worth: residuals, excitation, diagnosis, verdict."""
