"""Learning to walk: courses, rewards, reward weighting, layered parameter sets, and what the walks are worth."""
