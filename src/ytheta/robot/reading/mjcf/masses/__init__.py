"""Inertias of MJCF bodies: explicit ones, those of primitive shapes, and those of meshes."""
