"""Distances between simulated and real behaviour: series errors, the joint error F, fitness and information."""
