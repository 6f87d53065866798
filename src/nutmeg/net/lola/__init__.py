"""LoLA, the low-level interface of a Nao V6: sensors and actuators as MessagePack maps over a Unix socket.

`names` has the order of joints, buttons and lights, `packets` the bytes, `senses` what a simulated robot tells, `port`
the server, `pictures` the cameras' own TCP port, `client` a client for programs of one's own.
"""
