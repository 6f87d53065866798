"""The ant's results beside their goals and the paper's numbers.

goal_table(answer)      # rows of text: what, found, goal, whether it is met, the paper's
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOTES = (
    "errors of Back-to-Reality are averaged over the last five iterations; medians over realities and lengths.",
    "speeds are those in reality, of the champion of the last search.",
    "the paper prints no errors: its figure 3 shows four estimates that approach 1 and oscillate.",
)
CORES = 2


def goal_table(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Everything that was wanted, and what came out."""
    rows = []
    for name, family in answer["families"].items():
        rows += _family(name, family)
    for kind, most in (("same", 0.02), ("other", 0.05)):
        rows += _ours(answer["our_way"][kind], "the same physics" if kind == "same" else "another physics", most)
    return rows


def _family(name: str, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    minutes = found["cpu_seconds"] / CORES / 60
    lengths = name == "lengths"
    rows = [
        _row(
            f"{name}: error of lengths",
            f"{found['median_error']:.1%}",
            "<= 5 %" if lengths else "-",
            found["median_error"] <= 0.05 if lengths else None,
        ),
        _row(
            f"{name}: speed, of that learned on the true body",
            f"{found['of_true_body']:.2f}",
            ">= 0.9",
            found["of_true_body"] >= 0.9,
        ),
        _row(
            f"{name}: speed, of that learned in reality alone",
            f"{found['of_reality_alone']:.2f}",
            ">= 1.5",
            found["of_reality_alone"] >= 1.5,
        ),
        _row(
            f"{name}: control without identification, of true body", f"{found['control_of_true_body']:.2f}", "-", None
        ),
        _row(
            f"{name}: trials in reality",
            str(found["trials_in_reality"]),
            "<= 180",
            found["trials_in_reality"] <= 180,
            "180",
        ),
        _row(f"{name}: CPU time on two cores [min]", f"{minutes:.1f}", "< 5", minutes < 5),
    ]
    if not lengths:
        others = {key: value for key, value in found["error_by_number"].items() if key.endswith("damping")}
        rows += [_row(f"{name}: error of {key}", f"{value:.1%}", "-", None) for key, value in others.items()]
    return rows


def _ours(found: Mapping[str, float], what: str, most: float) -> list[dict[str, Any]]:
    strict = most <= 0.02
    return [
        _row(f"our way, {what}: error", f"{found['median']:.1%}", f"<= {most:.0%}", found["median"] <= most),
        _row(
            f"our way, {what}: 90th percentile",
            f"{found['percentile_90']:.1%}",
            "<= 6 %" if strict else "-",
            found["percentile_90"] <= 0.06 if strict else None,
        ),
        _row(
            f"our way, {what}: trials in reality",
            str(found["trials_in_reality"]),
            "<= 2",
            found["trials_in_reality"] <= 2,
            "180",
        ),
        _row(f"our way, {what}: CPU time [s]", f"{found['cpu_seconds']:.1f}", "<= 10", found["cpu_seconds"] <= 10),
    ]


def _row(what: str, found: str, goal: str, ok: bool | None, paper: str = "-") -> dict[str, Any]:
    return {"what": what, "found": found, "goal": goal, "met": None if ok is None else bool(ok), "paper": paper}
