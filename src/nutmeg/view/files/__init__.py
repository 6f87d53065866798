"""Files for viewing: offline replays, videos, and pictures."""
