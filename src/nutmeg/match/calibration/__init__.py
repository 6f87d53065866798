"""The `calibration` part of Nutmeg."""
