"""The `strategies` part of Nutmeg."""
