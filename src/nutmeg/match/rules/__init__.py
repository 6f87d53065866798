"""The `rules` part of Nutmeg."""
