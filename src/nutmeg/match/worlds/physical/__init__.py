"""The physical world: the robots of the 3D simulation league in MuJoCo, in cycles of 20 ms."""
