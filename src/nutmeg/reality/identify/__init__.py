"""Identification: the parameters of a robot from recordings, with intervals and what the data determine."""
