"""What a robot description contains and what it costs to compute with it."""
