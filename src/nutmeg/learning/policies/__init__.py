"""Policies learned by reinforcement: the tasks, proximal policy optimisation, and the training that ties them."""
