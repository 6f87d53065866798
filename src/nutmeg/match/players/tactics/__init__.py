"""One set of tactics for both worlds: compiled functions on belief records; strategies are its parameters."""
