"""Robots: their tree, tables of joints and links."""
