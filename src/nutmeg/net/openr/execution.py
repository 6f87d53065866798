"""Command vectors executed in order, a value a frame: what the effector side of OVirtualRobotComm does.

    queues = CommandQueues()
    queues.add(vector, sequence=7, owner=client)
    for event in queues.advance(execute):           # once every 8 ms
        ...                                         # vector 7 has begun, is finished, or was dropped

Each channel of each owner is a queue. A vector begins in the first frame after it came and after the one before it in
its queue is finished, plus its `wait`; it is finished when its longest command is. `execute(command, value)` is called
for each value whose turn it is, for vectors that began later after the others. Time is counted in frames; nothing here
knows a robot.
"""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from nutmeg.net.openr.packets import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from nutmeg.net.openr.commands import Command, CommandVector

Owner = TypeVar("Owner", bound="Hashable")
MAX_QUEUED = 16
"""Vectors that wait in each queue; of more, the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class VectorEvent(Generic[Owner]):
    """What became of a command vector."""

    owner: Owner
    sequence: int
    vector: CommandVector
    event: Event


@dataclass(slots=True)
class _Running(Generic[Owner]):
    """A vector that waits or is being executed."""

    vector: CommandVector
    sequence: int
    wait: int = 0
    began: int = 0
    """Counts the vectors in the order in which they began."""
    step: int = 0
    """Frames executed so far."""
    length: int = 1
    turns: list[dict[int, bytes]] = field(default_factory=list)
    """For each command: the value that begins at a frame, counted from the vector's first."""


@dataclass(slots=True)
class _Channel(Generic[Owner]):
    queue: deque[tuple[CommandVector, int]] = field(default_factory=deque)
    running: _Running[Owner] | None = None


class CommandQueues(Generic[Owner]):
    """The command vectors of one robot."""

    def __init__(self) -> None:
        self.dropped = 0
        """Vectors that were dropped because their queue was full."""
        self._channels: dict[tuple[Owner, int], _Channel[Owner]] = {}
        self._began = itertools.count(1)
        self._lost: list[VectorEvent[Owner]] = []

    @property
    def waiting(self) -> int:
        """Vectors that have not begun."""
        return sum(len(channel.queue) for channel in self._channels.values())

    def add(self, vector: CommandVector, *, sequence: int, owner: Owner) -> None:
        """Queues a vector; if there is no room, the oldest of its queue goes."""
        channel = self._channels.setdefault((owner, vector.channel), _Channel())
        if len(channel.queue) >= MAX_QUEUED:
            old, number = channel.queue.popleft()
            self.dropped += 1
            self._lost.append(VectorEvent(owner, number, old, Event.DROPPED))
        channel.queue.append((vector, sequence))

    def forget(self, owner: Owner) -> None:
        """Forgets all vectors of an owner, begun or not."""
        for key in [key for key in self._channels if key[0] == owner]:
            del self._channels[key]
        self._lost = [event for event in self._lost if event.owner != owner]

    def advance(self, execute: Callable[[Command, bytes], None]) -> list[VectorEvent[Owner]]:
        """Executes one frame; returns what became of the vectors."""
        events, self._lost = self._lost, []
        for (owner, _), channel in self._channels.items():
            events += self._begin(owner, channel)
        running = [(owner, c) for (owner, _), c in self._channels.items() if c.running and not c.running.wait]
        running.sort(key=lambda pair: pair[1].running.began if pair[1].running else 0)
        for owner, channel in running:
            events += _execute(owner, channel, execute)
        for channel in self._channels.values():
            if channel.running and channel.running.wait:
                channel.running.wait -= 1
        return events

    def _begin(self, owner: Owner, channel: _Channel[Owner]) -> Iterator[VectorEvent[Owner]]:
        if channel.running is None and channel.queue:
            vector, sequence = channel.queue.popleft()
            channel.running = _Running(vector, sequence, wait=vector.wait)
        now = channel.running
        if now is not None and not now.wait and not now.began:
            now.began = next(self._began)
            now.turns = [_turns(command) for command in now.vector.commands]
            now.length = max((sum(command.periods) for command in now.vector.commands), default=1)
            yield VectorEvent(owner, now.sequence, now.vector, Event.BEGUN)


def _turns(command: Command) -> dict[int, bytes]:
    starts = itertools.accumulate(command.periods[:-1], initial=0)
    return dict(zip(starts, command.values, strict=True))


def _execute(
    owner: Owner, channel: _Channel[Owner], execute: Callable[[Command, bytes], None]
) -> Iterator[VectorEvent[Owner]]:
    now = channel.running
    if now is None:
        return
    for command, turns in zip(now.vector.commands, now.turns, strict=True):
        value = turns.get(now.step)
        if value is not None:
            execute(command, value)
    now.step += 1
    if now.step >= now.length:
        channel.running = None
        yield VectorEvent(owner, now.sequence, now.vector, Event.FINISHED)
