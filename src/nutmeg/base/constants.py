"""Constants of physics and of the two worlds, in SI units."""

GRAVITY = 9.81
"""Gravitational acceleration of simulated worlds, the default of MuJoCo [m/s^2]."""
STANDARD_GRAVITY = 9.80665
"""Standard gravitational acceleration, which the papers on walking compute with [m/s^2]."""
CONTROL_CYCLE = 0.02
"""Control cycle of robots in the physical world, that of the 3D simulation league [s]."""
BEHAVIOURAL_CYCLE = 0.1
"""Cycle of the behavioural world [s]."""
