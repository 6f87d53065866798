"""Command vectors in order, a value a frame."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nutmeg.net.openr.commands import LED_COMMAND2, Command, CommandVector, joint_command
from nutmeg.net.openr.packets import Event
from nutmeg.net.openr.robot import MAX_QUEUED, CommandQueues


class Robot:
    """Notes what is obeyed, frame by frame."""

    def __init__(self) -> None:
        self.queues: CommandQueues[str] = CommandQueues()
        self.frames: list[list[tuple[int, int]]] = []
        self.events: list[tuple[int, int, Event]] = []

    def run(self, frames: int) -> None:
        for _ in range(frames):
            self.frames.append([])
            for event in self.queues.advance(self._obey):
                self.events.append((len(self.frames) - 1, event.sequence, event.event))

    def _obey(self, command: Command, value: bytes) -> None:
        self.frames[-1].append((command.primitive, struct.unpack_from("<i", value)[0]))


def vector(values: list[int], *, primitive: int = 1, channel: int = 0, wait: int = 0) -> CommandVector:
    command = joint_command(primitive, [value * 1e-6 for value in values])
    return CommandVector(channel=channel, wait=wait, commands=(command,))


def test_vectors_of_a_channel_follow_each_other_without_a_gap() -> None:
    robot = Robot()
    robot.queues.add(vector([1, 2, 3]), sequence=7, owner="a")
    robot.queues.add(vector([4, 5]), sequence=8, owner="a")
    robot.run(6)
    assert robot.frames == [[(1, 1)], [(1, 2)], [(1, 3)], [(1, 4)], [(1, 5)], []]
    assert robot.events == [(0, 7, Event.BEGUN), (2, 7, Event.FINISHED), (3, 8, Event.BEGUN), (4, 8, Event.FINISHED)]


def test_a_vector_waits_as_many_frames_as_it_says() -> None:
    robot = Robot()
    robot.queues.add(vector([1], wait=3), sequence=1, owner="a")
    robot.queues.add(vector([2], wait=1), sequence=2, owner="a")
    robot.run(7)
    assert [frame for frame, done in enumerate(robot.frames) if done] == [3, 5]
    assert (3, 1, Event.BEGUN) in robot.events


def test_channels_run_side_by_side_and_the_later_one_is_obeyed_last() -> None:
    robot = Robot()
    robot.queues.add(vector([1] * 4, channel=1), sequence=1, owner="a")
    robot.run(1)
    robot.queues.add(vector([2] * 2, channel=0), sequence=2, owner="a")
    robot.queues.add(vector([3] * 2, channel=1), sequence=3, owner="b")
    robot.run(3)
    assert robot.frames == [[(1, 1)], [(1, 1), (1, 2), (1, 3)], [(1, 1), (1, 2), (1, 3)], [(1, 1)]]


def test_commands_of_different_lengths_finish_with_the_longest() -> None:
    robot = Robot()
    both = CommandVector(commands=(joint_command(1, [1e-6]), joint_command(2, [1e-6, 2e-6, 3e-6])))
    robot.queues.add(both, sequence=1, owner="a")
    robot.run(4)
    assert robot.frames == [[(1, 1), (2, 1)], [(2, 2)], [(2, 3)], []]
    assert robot.events[-1] == (2, 1, Event.FINISHED)


def test_lights_take_their_time() -> None:
    robot = Robot()
    light = Command(
        type=LED_COMMAND2, primitive=40, values=(struct.pack("<IHH", 1, 3, 0), struct.pack("<IHH", 0, 2, 0))
    )
    robot.queues.add(CommandVector(commands=(light,)), sequence=1, owner="a")
    robot.run(6)
    assert [bool(done) for done in robot.frames] == [True, False, False, True, False, False]
    assert robot.events[-1] == (4, 1, Event.FINISHED)


def test_an_empty_vector_takes_one_frame() -> None:
    robot = Robot()
    robot.queues.add(CommandVector(), sequence=1, owner="a")
    robot.run(2)
    assert robot.events == [(0, 1, Event.BEGUN), (0, 1, Event.FINISHED)]


def test_a_full_queue_drops_its_oldest_and_counts_it() -> None:
    robot = Robot()
    for number in range(MAX_QUEUED + 3):
        robot.queues.add(vector([number]), sequence=number, owner="a")
    assert (robot.queues.dropped, robot.queues.waiting) == (3, MAX_QUEUED)
    robot.run(3)
    assert [done[0][1] for done in robot.frames] == [3, 4, 5]
    assert [(n, e) for _, n, e in robot.events if e == Event.DROPPED] == [(k, Event.DROPPED) for k in range(3)]


def test_a_client_that_goes_takes_its_vectors_with_it() -> None:
    robot = Robot()
    robot.queues.add(vector([1] * 16), sequence=1, owner="a")
    robot.queues.add(vector([1] * 16), sequence=2, owner="a")
    robot.queues.add(vector([2] * 2), sequence=3, owner="b")
    robot.run(1)
    robot.queues.forget("a")
    robot.run(2)
    assert robot.frames[1:] == [[(1, 2)], []]
    assert robot.queues.waiting == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(1, 5), st.integers(0, 6)), min_size=1, max_size=14
    )
)
@settings(max_examples=80)
def test_every_value_is_executed_once_and_in_order(plan: list[tuple[int, int, int, int]]) -> None:
    robot = Robot()
    expected: dict[int, list[int]] = {}
    for number, (channel, wait, length, pause) in enumerate(plan):
        values = [100 * number + k for k in range(length)]
        robot.queues.add(vector(values, primitive=channel + 1, channel=channel, wait=wait), sequence=number, owner="a")
        expected.setdefault(channel + 1, []).extend(values)
        robot.run(pause)
    robot.run(sum(wait + length for _, wait, length, _ in plan))
    done = [pair for frame in robot.frames for pair in frame]
    assert {p: [v for q, v in done if q == p] for p in expected} == expected
    assert sum(event == Event.FINISHED for _, _, event in robot.events) == len(plan)
    assert robot.queues.dropped == 0


@pytest.mark.parametrize("length", [1, 16])
def test_a_vector_that_comes_when_the_last_has_just_finished_loses_no_frame(length: int) -> None:
    robot = Robot()
    for number in range(4):
        robot.queues.add(vector([number] * length), sequence=number, owner="a")
        robot.run(length)
    assert all(robot.frames)
