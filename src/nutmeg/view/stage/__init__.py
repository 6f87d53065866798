"""The `stage` part of Nutmeg."""
