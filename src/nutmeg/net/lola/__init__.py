"""LoLA, the low-level interface of a Nao V6: sensors and actuators as MessagePack maps over a Unix socket.

`packets` has the bytes and the order of joints, buttons and lights, `port` the server and the simulated robot behind
it, `pictures` the cameras' own TCP port, `client` a client for programs in Python.
"""
