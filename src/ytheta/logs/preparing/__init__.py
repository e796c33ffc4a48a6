"""Preparation of signals: resampling, filtering, differentiating."""
