"""Robots: links, joints, drives, couplings and loops; readers and writers; the catalog."""
