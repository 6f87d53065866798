"""The numbers of the behavioural world, estimated from recordings of matches."""
