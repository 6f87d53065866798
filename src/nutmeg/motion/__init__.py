"""Motions: controllers for N worlds that turn time and observations into motor commands."""
