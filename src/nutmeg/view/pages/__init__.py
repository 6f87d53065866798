"""The browser viewer: server, controls, the page of a match, and orders to a running simulation."""
