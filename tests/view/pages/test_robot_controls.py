"""The driving pad and the speeds beside it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import UsageError
from nutmeg.view.pages.robot_controls import PAD_PREFIX, PadState, body_speed, pad_html, wanted_at


def said(**changes: Any) -> str:
    state = {"n": 1, "stops": 0, "restarts": 0, "picks": 0, "set": 0, "page": 7, "held": [0, 0, 0]}
    return PAD_PREFIX + json.dumps({**state, **changes})


def kinds(state: PadState, text: str) -> list[str]:
    return [order.order for order in state.orders(text, page=1)]


def test_a_key_that_goes_down_drives_is_repeated_and_released_once() -> None:
    state = PadState()
    (down,) = state.orders(said(held=[1, 0, 0]), page=1, share=0.5)
    assert (down.order, down.numbers, down.fresh) == ("hold", (0.5, 0.0, 0.0), True)
    (again,) = state.orders(said(n=2, held=[1, 0, 0]), page=1, share=0.5)
    assert not again.fresh
    (up,) = state.orders(said(n=3), page=1)
    assert (up.order, up.numbers) == ("hold", (0.0, 0.0, 0.0))
    assert state.orders(said(n=4), page=1) == []


def test_stop_restart_and_sets_are_counted_so_that_a_repeated_message_does_nothing() -> None:
    state = PadState()
    assert kinds(state, said(stops=1)) == ["stop"]
    assert kinds(state, said(n=2, stops=1)) == []
    assert kinds(state, said(n=3, stops=3, restarts=1)) == ["stop", "restart"]
    (chosen,) = state.orders(said(n=4, stops=3, restarts=1, picks=1, set=2), page=1)
    assert (chosen.order, chosen.index) == ("set", 2)


def test_a_page_that_was_loaded_again_counts_anew() -> None:
    state = PadState()
    assert kinds(state, said(restarts=4)) == ["restart"]
    assert kinds(state, said(page=8, restarts=0)) == []
    assert kinds(state, said(page=8, n=2, restarts=1)) == ["restart"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        PAD_PREFIX,
        PAD_PREFIX + "[]",
        PAD_PREFIX + "[" * 900,
        said(held=[2, 0, 0]),
        said(held=[math.nan, 0, 0]),
        said(held=None),
        said(stops=-1),
        said(stops=True),
        said(page="x"),
        said(more="x" * 2000),
    ],
)
def test_nonsense_from_a_page_is_refused_and_changes_nothing(text: str) -> None:
    state = PadState()
    with pytest.raises(UsageError):
        state.orders(text, page=1)
    assert state == PadState()


def test_the_pad_offers_sets_only_where_there_is_a_choice_and_names_are_no_markup() -> None:
    assert 'data-drive="set0"' not in pad_html(("walk",))
    several = pad_html(("walk", "<b>"))
    assert 'data-drive="set1"' in several
    assert "<b>" not in several


def poses(xs: Any, ys: Any, yaws: Any) -> np.ndarray:
    out = np.zeros((len(xs), 7))
    out[:, 0], out[:, 1] = xs, ys
    out[:, 3], out[:, 6] = np.cos(np.asarray(yaws) / 2), np.sin(np.asarray(yaws) / 2)
    return out


def test_speeds_are_those_the_robot_sees() -> None:
    t = np.linspace(0.0, 2.0, 101)
    left = body_speed(poses(0.3 * t, 0 * t, 0 * t - math.pi / 2), 2.0)
    assert left == pytest.approx((0.0, 0.3, 0.0), abs=1e-12)
    over = body_speed(poses(0 * t, 0 * t, 3.0 + 0.4 * t), 2.0)
    assert over == pytest.approx((0.0, 0.0, 0.4), abs=1e-9)
    circle = body_speed(poses(np.sin(0.1 * t), 1 - np.cos(0.1 * t), 0.1 * t), 2.0)
    assert circle == pytest.approx((0.1, 0.0, 0.1), abs=1e-3)


def test_what_was_wanted_at_a_time_is_the_last_change_before_it() -> None:
    events = [
        {"time": 0.0, "kind": "drive", "ahead": 0.1, "left": 0.0, "turn": 0.0},
        {"time": 1.0, "kind": "fall"},
        {"time": 2.0, "kind": "drive", "ahead": 0.0, "left": 0.2, "turn": 0.3},
    ]
    assert wanted_at(events, 1.5) == (0.1, 0.0, 0.0)
    assert wanted_at(events, 2.0) == (0.0, 0.2, 0.3)
    assert wanted_at([], 2.0) == (0.0, 0.0, 0.0)
