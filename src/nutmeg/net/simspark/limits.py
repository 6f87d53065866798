"""What a client may do before it is held up or disconnected, and how a server tells people what happened.

    Limits(patience=30.0)

Held up means that its messages wait in its own socket until the next cycle. None of it depends on good will: every
buffer has a size, every message a longest length, every cycle a share for each client.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds for each client."""

    agent_message: int = 4096
    """The longest message of an agent, bytes."""
    monitor_message: int = 65536
    """The longest message of a monitor, bytes."""
    cycle_share: int = 16384
    """Bytes a client may send in a cycle before it is held up until the next."""
    message_cost: int = 64
    """What a message costs of that share beside its own bytes."""
    messages_at_once: int = 256
    """Messages in one piece of 4096 bytes."""
    sustained: int = 4096
    """Bytes a cycle that a client may send for ever; a full set of effectors has about 600."""
    burst: int = 131072
    """Bytes beyond that, all cycles together, before a client is disconnected."""
    unsent: int = 131072
    """Bytes that may wait here for an agent that does not read, beside what its socket holds."""
    socket_buffer: int = 131072
    """Size of the system's send buffer of a client, bytes."""
    broken_messages: int = 100
    """Messages without sense before a client is disconnected."""
    reported_problems: int = 10
    """Problems of a client that are told; the rest are only counted."""
    handshake: float = 10.0
    """Time to ask for a robot, and again to enter the game once percepts come, s."""
    patience: float = 600.0
    """How long a server that waits for `(syn)` waits for one client, s."""
    newcomers: float = 5.0
    """How long such a server waits for the answer of who does not know its number yet, s. The league's server does not
    wait for the answers to an agent's first percepts at all, and there are agents that throw one of them away."""
    agents: int = 64
    """Connections of agents at once."""
    monitors: int = 16
    """Connections of monitors at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Something about a client that people may want to know."""

    kind: Literal["joined", "left", "refused", "problem"]
    """What kind of thing."""
    client: str
    """Which client, as `agent 127.0.0.1:50000`."""
    text: str
    """What happened, and why."""


Reporter: TypeAlias = Callable[[Report], None]
