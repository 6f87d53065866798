"""The `identify` part of Nutmeg."""
