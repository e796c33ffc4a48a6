"""Locked joints: joints that become fixed at given positions, so that the masses behind them stay."""
