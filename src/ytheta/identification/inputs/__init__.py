"""Inputs of ``identify`` and ``predict``: checks of arguments, reading and checks of logs, priors from files."""
