"""The `walk` part of Nutmeg."""
