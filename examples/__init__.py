"""Examples that are run: ``make demo`` runs them, and so do the tests."""
