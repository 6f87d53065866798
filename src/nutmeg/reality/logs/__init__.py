"""The `logs` part of Nutmeg."""
