"""Playing: the rules and the referee; the game itself is built on them."""
