"""Playing: rules and referee, the two worlds, players, games, series of games, and environments for learners."""
