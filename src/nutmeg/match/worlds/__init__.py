"""What happens on the pitch and what is observed of it: the physical and the behavioural world."""
