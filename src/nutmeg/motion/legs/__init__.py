"""Leg kinematics in closed form, forwards and backwards: Nao and AIBO."""
