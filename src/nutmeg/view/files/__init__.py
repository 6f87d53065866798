"""Files to look at: offline replays, videos, and pictures."""
