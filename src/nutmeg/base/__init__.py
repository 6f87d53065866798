"""Shared tools: array types, angles, constants, errors, settings, kernels and their records, saving and resuming."""
