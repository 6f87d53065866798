"""Logs of real robots: CSV files, recordings and pictures become series at times, and trials to simulate."""
