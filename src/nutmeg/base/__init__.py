"""What all chapters share: array types, angles, constants, records for kernels."""
