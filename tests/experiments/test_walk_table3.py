"""Table 3 of the learned walk, small: real games, and what is made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nutmeg.experiments.experiment import Estimate, perform
from nutmeg.experiments.learned_walk import walk_table3
from nutmeg.experiments.learned_walk.walk_table3 import (
    PAPER_DIFFERENCES,
    Size,
    fitted_strengths,
    pair_claim,
)
from nutmeg.learning import agents as agents_module
from nutmeg.motion.walk.files import read_walk, write_walk

TINY = Size(games=1, players=1, half_length=1.0, halves=1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Walks of three agents, two of whom the paper let play each other."""
    monkeypatch.setattr(agents_module, "walk_names", lambda: ())
    walks = tmp_path / "walks"
    walks.mkdir()
    for name in ("initial", "go-to-target", "final"):
        write_walk(walks / f"{name}.toml", read_walk("initial"))
    return walks


@pytest.mark.slow
def test_the_pairs_of_the_paper_play_and_games_are_kept(tmp_path: Path, folder: Path) -> None:
    out, said = tmp_path / "out", list[str]()
    settings = walk_table3.Settings(walks=folder, size=TINY)
    answer = perform(walk_table3, out, settings, said.append)
    assert [(row["home"], row["away"]) for row in answer["pairs"]] == [("GoToTarget", "Initial")]
    assert answer["pairs"][0]["paper_difference"] == 8.82
    assert answer["pairs"][0]["games"] == 1
    assert "DynamicRewards" in answer["missing"]
    assert json.loads((out / "results.json").read_text())["order"] == answer["order"]
    assert "paper +8.82 (0.11)" in (out / "report.html").read_text()
    assert (out / "table-3.png").stat().st_size > 3000
    again = walk_table3.run(out, settings, said.append)
    assert again["pairs"] == answer["pairs"]
    assert said == ["games: game 0 of 1", "games: game 1 of 1", "games: game 1 of 1"]
    shown = walk_table3.table(answer)
    assert all(len(row) == len(shown.columns) for row in shown.rows)
    assert any("1 games of 1 x 1 s" in note for note in shown.notes)


@pytest.mark.parametrize(
    ("ours", "error", "games", "paper", "said"),
    [
        (3.0, 0.1, 100, 3.27, "agrees"),
        (-2.0, 0.5, 100, 3.27, "differs"),
        (0.38, 0.2, 100, 3.27, "differs"),  # the same sign is not enough
        (0.1, 0.1, 100, 0.1, "agrees"),
        (0.1, 0.5, 8, 0.1, "cannot tell"),  # so few games agree with anything
        (2.0, None, 1, 3.27, "cannot tell"),
        (None, None, 0, 3.27, "cannot tell"),
    ],
)
def test_only_enough_games_of_the_papers_size_agree(
    ours: float | None, error: float | None, games: int, paper: float, said: str
) -> None:
    assert pair_claim("a – b", Estimate.with_error(ours, error, games), paper, 0.1).verdict == said


def test_strengths_reproduce_consistent_differences() -> None:
    found = fitted_strengths({("a", "b"): 1.0, ("b", "c"): 2.0, ("a", "c"): 3.0})
    assert found == pytest.approx({"a": 4 / 3, "b": 1 / 3, "c": -5 / 3})
    assert fitted_strengths({}) == {}


def test_the_papers_own_order() -> None:
    strengths = fitted_strengths({pair: told for pair, (told, _) in PAPER_DIFFERENCES.items()})
    order = sorted(strengths, key=lambda name: -strengths[name])
    assert set(order[:2]) == {"DynamicRewards", "DynamicAvgRewards"}
    assert order.index("Final") < order.index("StaticRewards")
    assert order[-1] == "Initial"
