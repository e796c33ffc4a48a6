"""Models leave ytheta: ``export`` writes them as C, as CasADi functions and in the formats of simulators."""
