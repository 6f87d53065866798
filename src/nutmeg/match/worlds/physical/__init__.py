"""The `physical` part of Nutmeg."""
