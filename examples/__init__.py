"""Examples, run by ``make demo`` and by the tests. Each is a module: ``python -m examples.lu1993_control``."""
