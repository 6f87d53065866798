"""The `legs` part of Nutmeg."""
