"""Experiments of the papers, run again with their numbers beside ours: what `nutmeg reproduce` runs."""
