"""The physical world of rcssservermj's league: T1 and K1 robots with impedance drives, in steps of 5 ms."""
