"""Constants of physics, in SI units."""

GRAVITY = 9.81
"""Gravitational acceleration of simulated worlds, the default of MuJoCo [m/s^2]."""
STANDARD_GRAVITY = 9.80665
"""Standard gravitational acceleration, which the papers on walking compute with [m/s^2]."""
