"""Talking to other programs over the network: wire formats, and servers that no client can bring down."""
