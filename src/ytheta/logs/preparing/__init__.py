"""Preparing logs for identification: resampling, filtering, differentiating."""
