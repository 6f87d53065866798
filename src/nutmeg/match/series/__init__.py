"""The `series` part of Nutmeg."""
