"""The physical world of the league of rcssservermj: Booster T1 and K1 robots with impedance drives, in steps of 5 ms."""
