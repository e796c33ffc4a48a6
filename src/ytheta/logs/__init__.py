"""Logs of robots: reading, checking, and preparing them for identification."""
