"""Series of games: the same results on any workers, saved as they are played."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from pathlib import Path

import pytest

from nutmeg.base.errors import FileError, NutmegError
from nutmeg.match.players.registry import load_player
from nutmeg.match.series.series import GameLog, GameResult, Series, SeriesGames
from nutmeg.match.series.settings import Entrant, Pair, SeriesSettings, read_series
from nutmeg.search import InThisThread, Processes

EXAMPLES = Path(__file__).parents[3] / "examples"
TEAMS = (Entrant(walk="holonomic", name="A"), Entrant(walk="initial", name="B"), Entrant(walk="final", name="C"))
TINY = SeriesSettings(team=TEAMS[:2], games=2, players=1, half_length=2.0, halves=1, wait_before_kick_off=0.1, seed=4)


class Scripted(SeriesGames):
    """Games that are not played: goals follow from who plays, fouls from the seed."""

    def counts(self, pair: Pair, number: int, seed: int, *, record: Path | None = None) -> list[float]:
        return [pair[0] + number, 1, 2, 0, 0.25, 0.5, 3, 1.25, pair[1], 3, seed % 50, 7, 0.75, -0.5, 1, 0.5]


def scripted(settings: SeriesSettings) -> Series:
    series = Series(settings)
    series.games = Scripted(settings, series.games.walks)
    return series


def test_every_pair_plays_and_the_seed_depends_on_pair_and_number_only() -> None:
    settings = SeriesSettings(team=TEAMS, games=2, players=1)
    results = scripted(settings).play(InThisThread(piece=Series.piece), at_once=4)
    assert [(one.home, one.away, one.number) for one in results] == [
        *(("A", "B", 0), ("A", "C", 0), ("B", "C", 0)),
        *(("A", "B", 1), ("A", "C", 1), ("B", "C", 1)),
    ]
    assert results[5].goals == (2, 2)
    assert results[5].lost_turns == (0, 7)
    assert (results[5].possession, results[5].progress, results[5].shots) == ((0.25, 0.75), (0.5, -0.5), (3, 1))
    assert results[5].expected_goals == (1.25, 0.5)
    seeds = [one.fouls[1] for one in results]
    assert len(set(seeds)) > 3
    alone = SeriesSettings(team=TEAMS, games=3, players=1, only=(("B", "C"),))
    again = scripted(alone).play(InThisThread(piece=Series.piece))
    assert [one.fouls[1] for one in again][:2] == [seeds[2], seeds[5]]


def test_what_was_played_is_not_played_again_and_half_a_line_is_dropped(tmp_path: Path) -> None:
    path, evaluator = tmp_path / "games.jsonl", InThisThread(piece=Series.piece)
    settings = SeriesSettings(team=TEAMS[:2], games=2, players=1)
    first = scripted(settings).play(evaluator, log=GameLog(path))
    with path.open("a") as file:
        file.write('{"home": "A", "aw')
    told: list[tuple[int, int]] = []
    more = scripted(settings.changed(games=3))
    results = more.play(evaluator, log=GameLog(path), on_game=lambda done, count: told.append((done, count)))
    assert results[:2] == first
    assert told[0] == (2, 3)
    assert told[-1] == (3, 3)
    assert len(path.read_text().splitlines()) == 3
    path.write_text('{"home": "A"}\n')
    with pytest.raises(FileError, match=r"games.jsonl, line 1: is not the result of a game"):
        GameLog(path)


def test_a_game_that_breaks_off_is_played_once_and_told() -> None:
    from nutmeg.match.loop import PlayerError

    calls: list[int] = []

    class Breaking(SeriesGames):
        def counts(self, pair: Pair, number: int, seed: int, *, record: Path | None = None) -> list[float]:
            calls.append(number)
            raise PlayerError("number 1 of 'A' failed")

    series = Series(TINY)
    series.games = Breaking(TINY, series.games.walks)
    results = series.play(InThisThread(piece=Series.piece))
    assert [one.failure for one in results] == ["number 1 of 'A' failed"] * 2
    assert calls == [0, 1]


@pytest.mark.slow
def test_real_games_are_the_same_in_processes() -> None:
    here = Series(TINY).play(InThisThread(piece=Series.piece))
    with contextlib.closing(Processes(2, piece=Series.piece)) as evaluator:
        there = Series(TINY).play(evaluator, at_once=2)
    assert here == there
    assert all(isinstance(one, GameResult) and not one.failure for one in here)


def test_a_file_tells_teams_and_walks_beside_it(tmp_path: Path) -> None:
    from nutmeg.motion.walk.files import read_walk, write_walk

    write_walk(tmp_path / "mine.toml", read_walk("initial"))
    path = tmp_path / "series.toml"
    path.write_text('games = 3\n[[team]]\nwalk = "holonomic"\n[[team]]\nwalk = "mine.toml"\n')
    settings = read_series(path)
    assert settings.names == ("holonomic", "mine")
    assert settings.walks()[1] == read_walk("initial")
    assert settings.pairs == ((0, 1),)
    assert settings.rule_book().match.automatic_kick_off


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[team]]\nwalk = "a"\n', "1 teams cannot play"),
        ('[[team]]\nwalk = "a"\n[[team]]\nwalk = "a"\n', "two teams are called 'a'"),
        ('players = 12\n[[team]]\nwalk = "a"\n[[team]]\nwalk = "b"\n', "players is 12; allowed are 1 to 11"),
        ('game = 1\n[[team]]\nwalk = "a"\n', "Did you mean 'games'?"),
        ('only = [["a", "x"]]\n[[team]]\nwalk = "a"\n[[team]]\nwalk = "b"\n', "unknown team 'x'"),
        ('[[team]]\nwalk = "a"\nname = "a b"\n[[team]]\nwalk = "b"\n', "without spaces"),
        ('[[team]]\nwalk = "a"\nplayer = "b:C"\n[[team]]\nwalk = "b"\n', "one of them is needed"),
        ('[[team]]\nwalk = "no.toml"\n[[team]]\nwalk = "b"\n', "there is no"),
    ],
)
def test_wrong_files_are_told(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "series.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=r"series\.toml") as problem:
        read_series(path)
    assert said in str(problem.value)


def test_players_of_a_users_own_play_and_a_changed_one_is_another(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "own_player" / "chaser.py", tmp_path)
    path = tmp_path / "series.toml"
    path.write_text('players = 1\n[[team]]\nplayer = "chaser.py:Chaser"\n[[team]]\nwalk = "initial"\nname = "B"\n')
    settings = read_series(path).changed(games=1, half_length=1.0, halves=1, wait_before_kick_off=0.1)
    assert settings.names == ("Chaser", "B")
    series = Series(settings)
    before = series.described()
    assert not series.play(InThisThread(piece=Series.piece))[0].failure
    with (tmp_path / "chaser.py").open("a") as file:
        file.write("\n# changed\n")
    assert series.described() != before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chaser", "needed is file.py:Class or module:Class"),
        ("none.py:Chaser", "there is no such file"),
        ("nutmeg.nowhere:Chaser", "cannot be imported"),
        ("nutmeg.match.loop:Chaser", "has no class 'Chaser'"),
        ("nutmeg.base.errors:Chaser", "no class with `act`; write `class Chaser:`"),
    ],
)
def test_players_that_are_not_there_are_told(name: str, said: str) -> None:
    with pytest.raises(NutmegError, match=said):
        load_player(name)


def test_settings_are_kept_by_name_and_not_by_place() -> None:
    assert dataclasses.replace(TINY, only=(("B", "A"),)).pairs == ((1, 0),)
