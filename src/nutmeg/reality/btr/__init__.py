"""The `btr` part of Nutmeg."""
