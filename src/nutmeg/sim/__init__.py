"""Simulation: N worlds stepped on threads, sensors with noise and delay, a schedule of exact rates, cameras."""

from nutmeg.sim.worlds import Worlds

__all__ = ["Worlds"]
