"""OPEN-R over TCP: a simulated AIBO where OVirtualRobotComm stands on the real one.

`packets` and `commands` are the wire format of docs/reference/openr-wire.md; `models` the primitives of the ERS-7 and
the ERS-210; `robot` the simulated robot; `port` the server, `configuration` its settings; `client` a
small runtime for programs in Python, `ball_follower` such a program.
"""
