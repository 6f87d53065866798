"""Worlds: the motion of robots and ball on the pitch, and the observations of players."""
