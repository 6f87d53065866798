"""The `reports` part of Nutmeg."""
