"""The `files` part of Nutmeg."""
