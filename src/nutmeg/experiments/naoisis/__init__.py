"""NaOISIS: its figures, localisation from pictures, and what the behavioural world predicts."""
