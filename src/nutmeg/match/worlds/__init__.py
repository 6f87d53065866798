"""The `worlds` part of Nutmeg."""
