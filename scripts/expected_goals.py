"""Fits the chance of a goal that expected goals are made of, to games of the behavioural world, and tests it on others.

    .venv/bin/python scripts/expected_goals.py --games 4 --seed 700 701

The twelve strategies of `nutmeg reproduce behaviour-predicts` play each other, as many games of each pair as `--games`
says; the first seed is fitted, the second one tested. Twice a second, while the ball is in play, the numbers of
`chance_numbers` are noted for both teams, and whether the team scores within `CHANCE_TIME`. The weights are those of a
logistic regression. Printed are weights, goals beside expected goals, the share of such states that end in a goal by
the chance they were given, and how well strengths from one game of each pair agree with those from the others.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from nutmeg.base.constants import BEHAVIOURAL_CYCLE
from nutmeg.experiments.experiment import fit_strengths, games_matrix, rank_correlation
from nutmeg.experiments.naoisis.behaviour_predicts import FULL, behavioural, series_of
from nutmeg.match.behavioural_game import BehaviourSetup
from nutmeg.match.behavioural_games import BehaviourGames
from nutmeg.match.rules.play_modes import PlayMode
from nutmeg.match.series.ball_control import CHANCE_TIME, CHANCE_WEIGHTS, chance_numbers, nearest_distances

if TYPE_CHECKING:
    from nutmeg.base.arrays import Bools, Floats

NOTED_CYCLES = 5
"""Cycles from one noted state to the next."""


def play(count: int, seed: int) -> tuple[BehaviourGames, list[tuple[str, str]], Floats, Bools]:
    """Games of each pair, their teams, and the states (n, 3) with whether the team scored soon after, (n,)."""
    settings = behavioural(series_of(FULL, seed), "nao-spark", count)
    pairs = [(settings.names[home], settings.names[away]) for home, away in settings.pairs for _ in range(count)]
    games = BehaviourGames(
        settings.rule_book(),
        left=[pair[0] for pair in pairs],
        right=[pair[1] for pair in pairs],
        seeds=np.random.default_rng(seed).integers(2**62, size=len(pairs)).tolist(),
        setup=BehaviourSetup(field=settings.ground, settings=settings.behaviour, eyes=settings.eyes),
        players=settings.players,
    )
    end, state = games.rules.pitch.length / 2, games.world.state
    chosen, every = np.arange(len(pairs)), np.arange(len(pairs))
    cycle, noted, goals = 0, list[tuple[int, int, int, tuple[float, float, float]]](), np.zeros((len(pairs), 2), int)
    scored: list[list[list[int]]] = [[[], []] for _ in pairs]
    while len(chosen):
        games.cycle(chosen)
        cycle += 1
        for m in chosen.tolist():
            for side, now in enumerate(games.states[m].score):
                if now > goals[m, side]:
                    goals[m, side] = now
                    scored[m][side].append(cycle)
            if cycle % NOTED_CYCLES == 0 and games.states[m].mode is PlayMode.PLAY_ON:
                x, y, ahead = *state.ball[m, :2].tolist(), float(state.ball_speed[m, 0])
                near = nearest_distances(x, y, state.pose[m], state.present[m])
                noted.append((m, 0, cycle, chance_numbers((x, y), ahead, near, end)))
                noted.append((m, 1, cycle, chance_numbers((-x, y), -ahead, near[::-1], end)))
        chosen = every[~games.over]
    soon = CHANCE_TIME / BEHAVIOURAL_CYCLE
    ended = [any(0 < goal - when <= soon for goal in scored[m][side]) for m, side, when, _ in noted]
    return games, pairs, np.array([one[3] for one in noted]), np.array(ended)


def fitted(numbers: Floats, ended: Bools) -> Floats:
    """The weights of a logistic regression, that of 1 first."""
    middle, width = numbers.mean(axis=0), numbers.std(axis=0)
    rows = np.column_stack([np.ones(len(numbers)), (numbers - middle) / width])

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = rows @ weights
        return float(np.logaddexp(0.0, odds).sum() - odds[ended].sum()), rows.T @ (expit(odds) - ended)

    found = minimize(loss, np.zeros(rows.shape[1]), jac=True).x
    return np.concatenate([[found[0] - (found[1:] * middle / width).sum()], found[1:] / width])


def main() -> None:
    """Fits and tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=6, help="games of each pair")
    parser.add_argument("--seed", type=int, nargs=2, default=(700, 701), help="seeds of the games to fit, and to test")
    given = parser.parse_args()
    _, _, numbers, ended = play(given.games, given.seed[0])
    weights = np.round(fitted(numbers, ended), 3).tolist()
    lines = [f"{len(ended)} states, {ended.mean():.4f} end in a goal; weights {weights}, in use {CHANCE_WEIGHTS}"]
    games, pairs, numbers, ended = play(given.games, given.seed[1])
    chances = expit(CHANCE_WEIGHTS[0] + numbers @ np.array(CHANCE_WEIGHTS[1:]))
    for low, high in itertools.pairwise((0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)):
        inside = (chances >= low) & (chances < high)
        share = f"{ended[inside].mean():.3f} of {inside.sum()}" if inside.any() else "none"
        lines.append(f"given a chance of {low} to {high}: {share} end in a goal")
    results = games.results()
    goals = np.array([one.goals for one in results], float)
    expected = np.array([one.control.expected_goals for one in results])
    lines.append(f"{goals.sum():.0f} goals, {expected.sum():.1f} expected ones in {len(results)} games")
    names = sorted({name for pair in pairs for name in pair})
    matrix, number = games_matrix(names, pairs), np.arange(len(pairs)) % given.games

    def strengths(counted: Floats, chosen: Bools) -> Floats:
        return fit_strengths(matrix[chosen], counted[chosen, 0] - counted[chosen, 1])

    # What one game of a pair says about the goals of the other games is what a finer measure is for.
    for what, counted in (("goals", goals), ("expected goals", expected)):
        for of, truth in (("goals", goals), (what, counted)):
            ranks = [
                rank_correlation("spearman", strengths(counted, number == k), strengths(truth, number != k)) or 0.0
                for k in range(given.games)
            ]
            lines.append(f"one game a pair by {what}, the others by {of}: rank correlation {np.mean(ranks):.3f}")
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
