"""The rules of the game, pure: rule books, state, facts, the referee and its decisions."""
