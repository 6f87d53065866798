"""How a robot moves: controllers over N worlds that turn time and observations into motor commands."""
