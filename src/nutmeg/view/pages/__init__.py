"""The `pages` part of Nutmeg."""
