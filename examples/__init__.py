"""Examples that are run: by ``make demo``, as ``python -m examples.lu1993_control`` and the like, and by the tests."""
