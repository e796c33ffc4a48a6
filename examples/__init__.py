"""Examples: run by ``make demo``, by the tests, and as modules such as ``python -m examples.lu1993_control``."""
