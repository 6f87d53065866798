"""Maps of a match as pictures: where the ball was, and where the players were.

ball_map(facts, field)               # PNG as bytes
player_map(facts.teams[0], field, COLOURS[0])
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from nutmeg.body.field import FieldSettings
    from nutmeg.view.match_facts import MatchFacts, TeamFacts

GRASS, LINE, AROUND = "#2f7d46", "#e9f2ec", 1.0
CELL = 0.5
"""Cells of the ball's map, m."""
DPI = 120
BLUR = 1.0
"""Width of the blur of the ball's map, cells."""


def ball_map(facts: MatchFacts, field: FieldSettings) -> bytes:
    """Where the live ball was, as a heat map; PNG."""
    figure, axes = _pitch(field)
    if len(facts.ball):
        columns, rows = round(field.length / CELL), round(field.width / CELL)
        x, y = field.length / 2, field.width / 2
        counts, _, _ = np.histogram2d(
            facts.ball[:, 0], facts.ball[:, 1], bins=(columns, rows), range=[[-x, x], [-y, y]]
        )
        heat = _blurred(np.sqrt(counts)).T
        heat = heat / max(float(heat.max()), 1e-9)
        axes.imshow(
            heat, alpha=np.minimum(2.5 * np.sqrt(heat), 0.9), extent=(-x, x, -y, y), origin="lower", cmap="inferno",
            interpolation="bilinear", zorder=1, vmin=-0.25, vmax=1.0,
        )  # fmt: skip
        for event in facts.told:
            if event["kind"] == "goal" and "place" in event:
                axes.plot(
                    *np.array(event["place"])[:, None], marker="*", color="white", ms=11, mec="black", mew=0.6, zorder=4
                )
    return _png(figure)


def player_map(team: TeamFacts, field: FieldSettings, colour: str) -> bytes:
    """Where the players of a team were: their ways, and their numbers at their mean places; PNG."""
    figure, axes = _pitch(field)
    for player in team.players:
        places = player.places
        if not len(places):
            continue
        axes.scatter(places[:, 0], places[:, 1], s=9, color=colour, alpha=0.45, lw=0, zorder=2)
        x, y = np.median(places, axis=0)
        axes.text(
            x, y, str(player.number), color="white", ha="center", va="center", fontsize=10, fontweight="bold", zorder=5,
            bbox={"boxstyle": "circle,pad=0.28", "fc": colour, "ec": "white", "lw": 1.2},
        )  # fmt: skip
    return _png(figure)


def _pitch(field: FieldSettings) -> tuple[Any, Axes]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    long, wide = field.length + 2 * AROUND, field.width + 2 * AROUND
    figure = plt.figure(figsize=(6.2, 6.2 * wide / long))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(-long / 2, long / 2)
    axes.set_ylim(-wide / 2, wide / 2)
    axes.axis("off")
    figure.patch.set_facecolor(GRASS)
    axes.add_collection(LineCollection([np.array(line) for line in field.lines()], colors=LINE, lw=1.3, zorder=3))
    return figure, axes


def _blurred(values: Any) -> Any:  # noqa: ANN401
    """Values (n, m) blurred a little, so that single visits do not sparkle."""
    steps = np.arange(-3, 4)
    weights = np.exp(-0.5 * (steps / BLUR) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        values = np.apply_along_axis(lambda row: np.convolve(row, weights, mode="same"), axis, values)
    return values


def _png(figure: Any) -> bytes:  # noqa: ANN401
    import matplotlib.pyplot as plt

    out = io.BytesIO()
    figure.savefig(out, dpi=DPI, facecolor=figure.get_facecolor())
    plt.close(figure)
    return out.getvalue()
