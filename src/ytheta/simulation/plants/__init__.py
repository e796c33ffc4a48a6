"""Plants: forward dynamics of ytheta, or MuJoCo."""
