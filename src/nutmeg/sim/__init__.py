"""How worlds are stepped: N at once on threads, sensed with noise and delay, run by a schedule of exact rates."""

from nutmeg.sim.worlds import Worlds

__all__ = ["Worlds"]
