"""Players: beliefs, trackers, tactics and limbs of the built-in team, strategies, and players of users."""
