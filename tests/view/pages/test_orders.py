"""Orders from a page to the simulation: what is taken, and what is not."""

from __future__ import annotations

import math
import threading

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.view.pages.orders import (
    MAX_LINE_LENGTH,
    MAX_WAITING_ORDERS,
    Bench,
    Controls,
    Drive,
    Inbox,
    Order,
    read_order,
)


@pytest.mark.parametrize(
    "order",
    [
        Order(order="hold", page=3, numbers=(1.0, -0.5, 0.0), fresh=False),
        Order(order="go", numbers=(0.3, 0.0, -1.5)),
        Order(order="set", index=2),
        Order(order="stop"),
        Order(order="pace", numbers=(1000.0, 0.0, 0.0)),
    ],
)
def test_an_order_survives_the_way_as_a_line(order: Order) -> None:
    assert read_order(order.line()) == order


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "no JSON"),
        ("hello", "no JSON"),
        ("[" * 900, "no JSON"),
        ("[1, 2]", "allowed are hold, go, stop"),
        ('{"order": "jump"}', "allowed are hold, go, stop"),
        ('{"order": "go", "numbers": [NaN, 0, 0]}', "three numbers"),
        ('{"order": "go", "numbers": [1e999, 0, 0]}', "three numbers"),
        ('{"order": "go", "numbers": [0, 0]}', "three numbers"),
        ('{"order": "go", "numbers": ["1", 0, 0]}', "three numbers"),
        ('{"order": "go", "numbers": [true, 0, 0]}', "three numbers"),
        ('{"order": "hold", "numbers": [1.5, 0, 0]}', "from -1 to 1"),
        ('{"order": "pace", "numbers": [1001, 0, 0]}', "from -1000 to 1000"),
        ('{"order": "set", "index": -1}', "whole number"),
        ('{"order": "set", "index": 0.5}', "whole number"),
        ('{"order": "stop", "page": "x"}', "whole number"),
        ('{"order": "stop", "more": "' + MAX_LINE_LENGTH * "x" + '"}', f"allowed are {MAX_LINE_LENGTH}"),
    ],
)
def test_what_is_not_an_order_is_refused_with_a_reason(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_order(line)
    inbox = Inbox()
    inbox.post(line)
    assert inbox.take() == []
    assert said in inbox.refused()[0]
    assert inbox.refused() == []


def test_an_inbox_keeps_the_newest_orders_and_never_grows() -> None:
    inbox = Inbox()
    for number in range(5 * MAX_WAITING_ORDERS):
        inbox.post(Order(order="set", index=number).line())
        inbox.post("nonsense")
    assert [order.index for order in inbox.take()] == list(range(4 * MAX_WAITING_ORDERS, 5 * MAX_WAITING_ORDERS))
    assert inbox.take() == []
    assert len(inbox.refused()) == MAX_WAITING_ORDERS


def test_orders_posted_by_another_thread_arrive_in_their_order() -> None:
    inbox, found = Inbox(), []
    lines = [Order(order="set", index=number).line() for number in range(50)]
    thread = threading.Thread(target=lambda: [inbox.post(line) for line in lines])
    thread.start()
    while thread.is_alive():
        found += inbox.take()
    found += inbox.take()
    assert [order.index for order in found] == list(range(50))


def test_what_can_be_driven_survives_the_way_to_the_viewer() -> None:
    drive = Drive(robot="walker", top=(0.5, 0.25, 1.0), sets=("walk", "sprint"))
    bench = Bench(robot="arm", joints={"elbow": (-math.inf, math.inf)}, poses=("zero",), force=2.5)
    controls = Controls(drive=drive, bench=bench, pace=2.0, pokes={"nao": ("Chest",)})
    assert Controls.of(controls.text()) == controls
    assert Controls.of("") == Controls()


def test_an_order_about_the_pace_is_told_at_once_and_does_not_wait() -> None:
    inbox, paces = Inbox(), []
    inbox.on_pace = paces.append
    inbox.post(Order(order="pace", numbers=(2.0, 0.0, 0.0)).line())
    inbox.post(Order(order="stop").line())
    assert paces == [2.0]
    assert [order.order for order in inbox.take()] == ["stop"]
