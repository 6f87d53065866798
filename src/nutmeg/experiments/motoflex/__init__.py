"""MoToFlex: its fits and its walks."""
