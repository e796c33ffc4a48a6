"""Payloads: mass, centre and inertia of what an arm holds, from its model and logs of its motion."""
