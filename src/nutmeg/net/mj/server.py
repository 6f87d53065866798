"""rcssservermj's protocol for the server of `net.simspark.server`, which is the same for both.

with Server(game, ServerSettings(agent_port=60000, monitor_port=60001), report, MJ) as server:
    server.run()
"""

from __future__ import annotations

from nutmeg.net.mj.agents import Agents
from nutmeg.net.mj.monitors import Monitors
from nutmeg.net.simspark.server import ServedProtocol

AGENT_PORT, MONITOR_PORT = 60000, 60001
"""Ports of rcssservermj."""
MJ = ServedProtocol(Agents, Monitors)
