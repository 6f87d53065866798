"""The built-in team: it perceives as any player does, believes, decides, and moves."""
