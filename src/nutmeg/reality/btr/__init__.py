"""Back-to-Reality: controllers and simulations searched in turn, with few trials in reality."""
