"""The `players` part of Nutmeg."""
