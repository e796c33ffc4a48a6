"""Closed-loop simulation of robots under a controller, for one run or thousands of runs."""
