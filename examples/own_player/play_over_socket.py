"""The own player over the socket, on `nutmeg serve` or any other server of the league's protocol."""

import sys

from chaser import Chaser

from nutmeg.net.simspark.agent import Agent

port = int(sys.argv[1]) if len(sys.argv) > 1 else 3100
with Agent("127.0.0.1", port, team="chasers", number=1) as agent:
    cycles = agent.play(Chaser("chasers", 1), cycles=int(sys.argv[2]) if len(sys.argv) > 2 else None)
print(f"played {cycles} cycles")
