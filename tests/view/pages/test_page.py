import pytest

from nutmeg.base.errors import UsageError
from nutmeg.view.pages.orders import Controls, Order
from nutmeg.view.pages.page import MAX_EVENT_TEXT, Playback, Simulation, describe_event, fine_clock_text


def test_time_runs_at_the_chosen_speed_and_stops_at_the_end() -> None:
    playback = Playback(start=1.0, end=5.0)
    playback.speed = 2.0
    playback.advance(1.5)
    assert playback.time == 4.0
    playback.advance(1.5)
    assert playback.time == 5.0
    assert playback.at_end


def test_a_paused_replay_stands_still_and_goes_on_from_there() -> None:
    playback = Playback(start=0.0, end=5.0)
    playback.advance(1.0)
    playback.toggle()
    playback.advance(1.0)
    assert playback.time == 1.0
    playback.toggle()
    playback.advance(1.0)
    assert playback.time == 2.0


def test_play_at_the_end_starts_again() -> None:
    playback = Playback(start=0.0, end=5.0)
    playback.advance(9.0)
    playback.toggle()
    assert playback.time == 0.0
    assert playback.playing


def test_a_replay_that_loops_starts_again_by_itself() -> None:
    playback = Playback(start=1.0, end=5.0, loop=True)
    playback.advance(9.0)
    assert playback.time == 1.0
    assert playback.playing


def test_a_simulation_that_is_held_goes_on_at_the_pace_it_had() -> None:
    sent: list[Order] = []
    simulation = Simulation(Controls(pace=2.0), send=sent.append)
    simulation.toggle()
    simulation.toggle()
    simulation.set_pace(5.0)
    simulation.step()
    assert [order.numbers[0] for order in sent if order.order == "pace"] == [0.0, 2.0, 5.0]
    assert simulation.held


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0:00.00"), (89.5, "1:29.50"), (59.999, "1:00.00"), (-1.0, "0:00.00")]
)
def test_the_clock_shows_minutes_and_hundredths(seconds: float, text: str) -> None:
    assert fine_clock_text(seconds) == text


def test_live_shows_the_newest_row_until_someone_seeks() -> None:
    playback = Playback(start=0.0, end=5.0, live=True)
    playback.grow(0.0, 6.0)
    playback.advance(0.03)
    assert playback.time == 6.0
    playback.seek(2.0)
    playback.grow(0.0, 7.0)
    playback.advance(1.0)
    assert playback.time == 3.0
    playback.go_live()
    assert playback.time == 7.0


def test_pausing_leaves_live_and_play_goes_on_from_there() -> None:
    playback = Playback(start=0.0, end=5.0, live=True)
    playback.toggle()
    playback.grow(0.0, 8.0)
    playback.advance(1.0)
    assert playback.time == 5.0
    playback.toggle()
    playback.advance(1.0)
    assert playback.time == 6.0
    assert not playback.live


def test_when_the_recording_ends_live_becomes_a_replay_that_can_be_played_again() -> None:
    playback = Playback(start=0.0, end=5.0, live=True)
    playback.grow(0.0, 6.0)
    playback.finish()
    assert playback.time == 6.0
    assert playback.at_end
    playback.toggle()
    assert playback.time == 0.0
    assert playback.playing


def test_seeking_stays_within_the_recording() -> None:
    playback = Playback(start=1.0, end=5.0)
    playback.seek(-3.0)
    assert playback.time == 1.0
    playback.seek(99.0)
    assert playback.time == 5.0


@pytest.mark.parametrize("speed", [0.0, -1.0, 11.0, float("nan")])
def test_an_impossible_speed_is_refused(speed: float) -> None:
    with pytest.raises(UsageError, match=r"between 0\.1 and 10"):
        Playback(start=0.0, end=1.0).speed = speed


def test_an_event_with_a_text_shows_the_text() -> None:
    assert describe_event({"time": 1.0, "kind": "note", "text": "that was close"}) == "that was close"


def test_another_event_shows_its_kind_and_short_fields() -> None:
    assert describe_event({"time": 1.0, "kind": "push", "robot": "a", "force": [1, 2, 3]}) == "push a"


def test_a_long_event_is_cut_and_shows_that_it_is() -> None:
    shown = describe_event({"time": 1.0, "kind": "note", "text": "x" * 90})
    assert len(shown) == MAX_EVENT_TEXT
    assert shown.endswith("…")
