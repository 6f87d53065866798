"""Trackers, which turn observations into beliefs: Kalman filters for the own pose, the ball and the other players."""
