"""The `host` part of Nutmeg."""
