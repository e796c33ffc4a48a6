"""How work is mapped and merged; knows nothing of robots."""
