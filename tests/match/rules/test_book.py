"""The rule book as data."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, UnknownNameError, UsageError
from nutmeg.match.rules.book import RULES_FOLDER, Foul, Rules, load_rules, pitch_of
from nutmeg.model.ball import load_ball
from nutmeg.model.field import load_field


def changed_book(folder: Path, line: str, new: str) -> Path:
    """The league's book with one line changed."""
    text = (RULES_FOLDER / "sim3d.toml").read_text(encoding="utf-8")
    assert line in text
    path = folder / "book.toml"
    path.write_text(text.replace(line, new), encoding="utf-8")
    return path


def test_the_league_s_book_has_the_numbers_that_its_server_tells_monitors(rules: Rules) -> None:
    told = {"FieldLength": 30, "FieldWidth": 20, "GoalWidth": 2.1, "GoalDepth": 0.6, "GoalHeight": 0.8}
    pitch = rules.pitch
    assert [pitch.length, pitch.width, pitch.goal_width, pitch.goal_depth, pitch.goal_height] == list(told.values())
    assert rules.restarts.distance == 2
    assert rules.match.wait_before_kick_off == 30
    assert (rules.match.goal_pause, rules.restarts.pause, rules.match.half_length) == (3, 1, 300)
    assert (rules.pass_mode.opponent_distance, rules.pass_mode.duration) == (1, 4)
    assert (rules.restarts.player_radius, pitch.ball_radius) == (0.4, 0.042)


def test_every_number_of_a_book_names_its_source() -> None:
    for path in RULES_FOLDER.glob("*.toml"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "=" in line and not line.startswith(("#", "name")) and " = true" not in line:
                assert "#" in line, f"{path.name}: {line}"


def test_the_book_s_pitch_is_the_field_that_is_simulated(rules: Rules) -> None:
    assert pitch_of(load_field("sim3d"), load_ball("sim3d")) == rules.pitch


def test_the_book_of_the_standard_platform_league_is_played_on_its_field(spl: Rules) -> None:
    field = load_field("spl2011")
    assert pitch_of(field, load_ball(field.ball)) == spl.pitch
    assert (spl.match.players, spl.match.half_length, spl.match.swap_ends) == (4, 600, True)
    assert (spl.fouls.removal_time, spl.outs.back, spl.shoot_out.kick_time) == (30, 1, 60)
    later = spl.on(pitch_of(load_field("spl2025"), load_ball("spl-foam")))
    assert (later.pitch.length, later.pitch.penalty_mark, later.fouls) == (9, 1.3, spl.fouls)


def test_the_book_of_2025_is_played_on_its_field_with_the_game_controller_s_numbers() -> None:
    book, field = load_rules("spl2025"), load_field("spl2025")
    assert pitch_of(field, load_ball(field.ball)) == book.pitch
    assert (book.match.players, book.match.half_length, book.fouls.removal_time) == (7, 600, 45)
    assert (book.restarts.drop_ball_time, book.shoot_out.kick_time, book.shoot_out.rounds) == (30, 30, 3)


def test_the_humanoid_league_s_book_is_played_on_its_pitch_for_adults_and_on_that_for_kids() -> None:
    book, adults, kids = load_rules("humanoid"), load_field("hl-adult"), load_field("hl-kid")
    assert pitch_of(adults, load_ball(adults.ball)) == book.pitch
    assert (book.match.half_length, book.fouls.removal_time, book.restarts.distance) == (600, 30, 1.5)
    small = book.on(pitch_of(kids, load_ball(kids.ball))).pitch
    assert (small.length, small.goal_width, small.goal_height, small.ball_radius) == (9, 2.6, 1.2, 0.07)


def test_the_league_of_simulated_robots_has_none_of_the_other_league_s_rules(rules: Rules) -> None:
    fouls = rules.fouls
    assert [fouls.pushing.on, fouls.inactive.on, rules.outs.put_back, rules.formation.on] == [False] * 4
    assert fouls.removal_time == 0


def test_penalties_from_the_mark_need_a_mark(spl: Rules) -> None:
    with pytest.raises(UsageError, match=r"'spl2011' cannot be played on this pitch: .*penalty_mark is 0"):
        spl.on(pitch_of(load_field("sim3d"), load_ball("sim3d")))


def test_a_formation_has_a_place_for_everybody(spl: Rules) -> None:
    with pytest.raises(ValueError, match="places for 3 players, but a team has 4"):
        dataclasses.replace(spl, formation=dataclasses.replace(spl.formation, kicking=spl.formation.kicking[:3]))
    with pytest.raises(ValueError, match="x must be within -1 to 0"):
        dataclasses.replace(spl.formation, kicking=((0.5, 0.0),))


def test_a_field_without_goals_is_no_pitch_for_a_match() -> None:
    with pytest.raises(UsageError, match="'floor' has no goals"):
        pitch_of(load_field("floor"), load_ball("sim3d"))


def test_the_book_can_be_played_on_another_pitch(rules: Rules) -> None:
    small = rules.on(pitch_of(load_field("sim3d-21x14"), load_ball("sim3d")))
    assert (small.pitch.length, small.match) == (21.0, rules.match)
    assert rules.with_match(players=4).match.players == 4


def test_fouls_have_the_names_and_indices_of_the_league() -> None:
    titles = "Crowding Touching IllegalDefence IllegalAttack Incapable KickOff Charging SelfCollision"
    assert [foul.title for foul in Foul][:8] == titles.split()
    assert [int(foul) for foul in Foul][:8] == list(range(8))


def test_fouls_that_the_league_s_monitors_do_not_know_are_numbered_apart() -> None:
    assert [(foul.title, int(foul)) for foul in Foul][8:] == [("HandBall", 10), ("Pushing", 100), ("Inactive", 101)]


def test_an_unknown_book_is_told_with_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'sim3d'"):
        load_rules("sim3D")


@pytest.mark.parametrize(
    ("line", "new", "said"),
    [
        ("goal_pause = 3.0 ", 'goal_pause = "long" ', "match.goal_pause: needs a number"),
        ("goal_pause = 3.0 ", "goal_paus = 3.0 ", "Did you mean 'goal_pause'"),
        ("goal_pause = 3.0 ", "goal_pause = -1 ", "goal_pause is -1.0; it must not be negative"),
        ("players = 11 ", "players = 12 ", "allowed are 1 to 11"),
        ("halves = 2 ", "halves = 3 ", "Allowed: 1, 2"),
        ("move_distance = 2.5 ", "move_distance = 1.0 ", "moved for ever"),
        ("drop_ball_time = 15.0 ", "drop_ball_time = 0.5 ", "longer than the pause"),
        ("goal_width = 2.1 ", "goal_width = 21.0 ", "only 20.0 m wide"),
        ("ground_height = 0.15 ", "ground_height = 0.5 ", "not standing"),
        ("most_rounds = 10 ", "most_rounds = 3 ", "allowed are 1 to most_rounds = 3"),
        ("[offside]", "[ofside]", "ofside: this key is not known"),
        ("look_interval = 2.0 ", "look_interval = 0.0 ", "look_interval is 0"),
        ('others = "circle" ', 'others = "home" ', "Allowed: 'circle', 'outside'"),
    ],
)
def test_a_wrong_book_says_what_is_wrong_where(tmp_path: Path, line: str, new: str, said: str) -> None:
    with pytest.raises(FileError) as found:
        load_rules(changed_book(tmp_path, line, new))
    assert said in str(found.value)
    assert "book.toml" in str(found.value)


def test_a_book_cannot_be_changed_by_accident(rules: Rules) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.match.half_length = 1.0  # type: ignore[misc]
