"""The `distances` part of Nutmeg."""
