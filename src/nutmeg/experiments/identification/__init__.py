"""Identification beside its peers: coverage, a real servo, three machines, and learning on the posterior."""
