"""The report of a match, and the numbers and maps in it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nutmeg.base.errors import FileError
from nutmeg.model.field import load_field
from nutmeg.recording import Recording
from nutmeg.view.reports.match import (
    MatchFacts,
    PlayerFacts,
    TeamFacts,
    ball_map,
    match_facts,
    match_page,
    player_map,
    walked,
    write_match_report,
)
from nutmeg.view.reports.report import page


@pytest.fixture(scope="module")
def facts(match_path: Path) -> MatchFacts:
    return match_facts(Recording.open(match_path))


def test_the_numbers_of_a_match_are_those_of_its_recording(facts: MatchFacts) -> None:
    reds, blues = facts.teams
    assert (reds.name, blues.name) == ("reds", "<blues>")
    assert (reds.goals, blues.goals) == (1, 1)
    assert reds.falls >= 1
    assert blues.falls == 0
    assert facts.over
    assert facts.game_time == pytest.approx(10.0, abs=0.05)
    assert reds.attack == pytest.approx(0.5, abs=0.1), "each shot went into the goal that its team attacks"
    assert [p.number for p in reds.players] == [1, 2]
    assert all(p.distance < 0.2 for p in blues.players), "nobody walked; beams are no way"
    assert all(p.believed is not None and p.believed > 0.1 for p in blues.players)


def test_ways_leave_out_where_somebody_was_put_elsewhere() -> None:
    times = np.arange(0.0, 3.0, 0.5)
    places = np.array([[0, 0], [0.3, 0], [0.6, 0], [5.0, 0], [5.0, 0.4], [5.0, 0.8]], float)
    assert walked(times, places) == pytest.approx(1.4)
    assert walked(times[:1], places[:1]) == 0.0


def test_the_report_is_one_page_with_everything_in_it(match_path: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    write_match_report(match_path, out, command="nutmeg play --seed 3 --left '<x>'", seed=3)
    text = out.read_text(encoding="utf-8")
    assert "<blues>" not in text, "names are escaped"
    assert "&lt;blues&gt;" in text
    assert "1:1" in text
    assert "Goal for reds" in text
    assert "nutmeg play --seed 3 --left &#39;&lt;x&gt;&#39;" in text
    assert "Seed 3" in text
    assert text.count("data:image/png;base64,") == 4
    assert not re.search(r'(src|href)="(?!data:|#)', text), "needs nothing from elsewhere"
    assert text.count("<tr>") == 5


def test_a_report_that_cannot_be_written_says_where(match_path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the report cannot be written"):
        write_match_report(match_path, tmp_path / "nowhere" / "report.html", command="x", seed=1)


def test_the_maps_show_the_ball_and_the_players_where_they_were() -> None:
    field = load_field("sim3d")
    player = PlayerFacts(
        robot="left1", number=1, distance=1.0, touches=1, falls=0, fouls=0, goals=0, believed=None,
        places=np.tile([[-12.0, 0.0]], (40, 1)),
    )  # fmt: skip
    team = TeamFacts(
        name="a", goals=0, possession=0.5, attack=0.5, shots=0, falls=0, fouls=0, self_collisions=0, players=(player,)
    )
    ball = np.tile([[10.0, -5.0]], (50, 1))
    made = MatchFacts(teams=(team, team), game_time=1.0, duration=1.0, over=False, ball=ball)
    heat = np.asarray(Image.open(io.BytesIO(ball_map(made, field))).convert("RGB")).astype(int)
    red = heat[..., 0] - heat[..., 1]
    row, column = np.unravel_index(int(red.argmax()), red.shape)
    assert column / heat.shape[1] == pytest.approx((10.0 + 16.0) / 32.0, abs=0.03)
    assert row / heat.shape[0] == pytest.approx((5.0 + 11.0) / 22.0, abs=0.04)
    shown = np.asarray(Image.open(io.BytesIO(player_map(team, field, "#1a59d9"))).convert("RGB")).astype(int)
    blue = (shown[..., 2] > shown[..., 1] + 60) & (shown[..., 2] > shown[..., 0] + 60)
    assert np.median(np.nonzero(blue)[1]) / shown.shape[1] == pytest.approx((-12.0 + 16.0) / 32.0, abs=0.03)


def test_a_match_that_was_cut_short_before_anything_happened_has_a_report() -> None:
    team = TeamFacts(
        name="a", goals=0, possession=0.0, attack=0.0, shots=0, falls=0, fouls=0, self_collisions=0, players=()
    )
    empty = MatchFacts(teams=(team, team), game_time=0.0, duration=0.0, over=False, ball=np.zeros((0, 2)))
    text = page(match_page(empty, load_field("sim3d"), command="x", seed=1))
    assert "cut short" in text
    assert "Nothing worth a line" in text
