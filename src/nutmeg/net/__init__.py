"""Talking to other programs over the network: protocols, and servers that no client can bring down.

`loop` and `connection` are what all servers share. `simspark` serves games to agents of the 3D simulation league;
`lola` (Nao) and `openr` (AIBO) serve single robots of a `host` to the software of the real ones.
"""
