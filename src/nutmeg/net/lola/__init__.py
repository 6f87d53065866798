"""LoLA, the low-level interface of a Nao V6: sensors and actuators as MessagePack maps over a Unix socket.

`packets` has the bytes and the order of joints, buttons and lights, `robot` the simulated robot behind them, `port` the
server, `pictures` the cameras' own TCP port, `client` a client for programs in Python.
"""
