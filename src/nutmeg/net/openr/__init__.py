"""OPEN-R over TCP: a simulated AIBO where OVirtualRobotComm stands on the real one.

`packets`, `vectors` and `commands` are the wire format of docs/reference/openr-wire.md; `models` the primitives of the
ERS-7 and the ERS-210; `service` the server; `client` a small runtime for programs in Python.
"""
