"""Floating bases: robots whose base moves freely, and the motion of such a base."""
