"""Hands on a robot: clicks become orders, and orders arrive where robots are poked."""

from __future__ import annotations

import pytest

from nutmeg.base.errors import UsageError
from nutmeg.view.pages.hosted_robots import SONAR_OBSTACLE_DISTANCE, TAP_TIME, TouchPad
from nutmeg.view.pages.orders import Inbox, Order, read_order
from nutmeg.view.pages.server import open_server


def test_a_touch_lasts_a_moment_and_a_hold_until_it_is_let_go() -> None:
    sent: list[Order] = []
    with open_server("127.0.0.1", 0) as server:
        pad = TouchPad(server, {"nao": ("ChestButton", "SonarLeft", "Battery", "Charging")}, sent.append)
        pad.touch(TAP_TIME)
        pad.touch(0.0)
        pad.let_go()
        pad._sensor.value = "SonarLeft"
        pad.touch(TAP_TIME)
    assert [order.numbers for order in sent] == [
        (1.0, TAP_TIME, 0.0),
        (1.0, 0.0, 0.0),
        (0.0, 0.0, 1.0),
        (SONAR_OBSTACLE_DISTANCE, TAP_TIME, 0.0),
    ]
    assert [order.thing for order in sent[::3]] == ["nao/ChestButton", "nao/SonarLeft"]


def test_a_poke_is_handed_on_at_once_and_keeps_its_name() -> None:
    inbox, poked = Inbox(), list[Order]()
    inbox.on_poke = poked.append
    order = Order(order="poke", thing="nao/ChestButton", numbers=(1.0, 0.25, 0.0))
    inbox.post(order.line())
    inbox.post('{"order": "poke", "thing": "x", "numbers": [1e9, 0, 0]}')
    assert poked == [order]
    assert inbox.take() == []
    assert "three numbers" in inbox.refused()[0]


def test_a_long_name_is_cut() -> None:
    assert len(read_order(Order(order="poke", thing="x" * 300).line()).thing) == 100
    with pytest.raises(UsageError):
        read_order('{"order": "prod"}')
