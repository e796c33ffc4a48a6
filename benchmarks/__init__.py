"""Speed, as ratios to a peer in the same run; the best of several runs each, since machines are shared and noisy."""
