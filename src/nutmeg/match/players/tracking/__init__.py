"""The `tracking` part of Nutmeg."""
