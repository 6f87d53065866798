"""Compiled strategies for thousands of games at once: they decide on belief records."""
