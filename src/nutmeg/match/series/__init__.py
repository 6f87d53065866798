"""Many games between teams: settings, evaluation on any number of workers, standings and ratings."""
