"""UT Austin Villa's learned walk: relearned, measured, and played with."""
