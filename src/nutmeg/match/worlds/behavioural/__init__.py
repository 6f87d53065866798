"""The behavioural world: robots without joints, many matches at once."""
