"""Back-to-Reality: its ant, its Nao, and robots whose bodies change."""
