"""Motion that contains noise: its spectrum, the smooth motion, and the noise of the regressor."""
