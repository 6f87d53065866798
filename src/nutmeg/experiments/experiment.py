"""The results of the experiments as tables for a terminal: ours beside the paper's."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEGREES = 180 / math.pi


@dataclass(frozen=True)
class ResultTable:
    """What is printed of an experiment."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    notes: tuple[str, ...] = ()


def number(value: float | None, digits: int = 3, scale: float = 1.0) -> str:
    """A number, or a dash if there is none."""
    return "-" if value is None else f"{value * scale:.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """A share in percent, or a dash if there is none."""
    return "-" if value is None else f"{value * 100:.{digits}f} %"


def yes_or_no(ok: bool | None) -> str:
    """Whether a goal was met."""
    return "" if ok is None else "yes" if ok else "NO"


def motoflex_walk(answer: Mapping[str, Any]) -> ResultTable:
    """Walks under each actuation beside the paper's speeds."""
    columns = ("set-up", "actuation", "speed [m/s]", "paper [m/s]", "fell at [s]", "pitch ± [deg]", "at [Hz]")
    rows = [
        (
            row["set_up"],
            row["actuation"],
            number(row["speed"]),
            number(row["paper_speed"]),
            number(row["fallen_at"], 1),
            number(row["pitch"], 1, DEGREES),
            number(row["rhythm"], 2),
            number(row["roll"], 1, DEGREES),
        )
        for row in answer["walks"]
    ]
    note = f"the paper's real robot: {answer['paper']['real robot']:.3f} m/s."
    return ResultTable((*columns, "roll ± [deg]"), rows, (note,))


def servo_xl330(answer: Mapping[str, Any]) -> ResultTable:
    """Errors in recordings of a real servo that the fits did not see."""
    columns = ("left out", "unfitted", "ours", "± seeds", "mujoco.sysid", "published", "goal", "met")
    rows = [
        (
            row["left_out"],
            number(row["before"], 2),
            number(row["held_out"], 2),
            number(row["deviation"], 2),
            number(row["sysid"], 2),
            "{:.1f} to {:.1f}".format(*row["published"]),
            f"<= {row['wanted']:.1f}",
            yes_or_no(row["held_out"] <= row["wanted"]),
        )
        for row in answer["splits"]
    ]
    notes = [f"mean absolute error of position in degrees, seeds {answer['seeds'][0]} to {answer['seeds'][-1]}."]
    return ResultTable(columns, rows, (*notes, *([answer["sysid_note"]] if answer.get("sysid_note") else [])))


def btr_ant(answer: Mapping[str, Any]) -> ResultTable:
    """Lengths and walks of the ant, each beside its goal and the paper's number."""
    rows = [(row["what"], row["found"], row["goal"], yes_or_no(row["met"]), row["paper"]) for row in answer["table"]]
    return ResultTable(("", "found", "goal", "met", "paper"), rows, tuple(answer["notes"]))


def btr_nao(answer: Mapping[str, Any]) -> ResultTable:
    """Masses found in the air."""
    rows = [
        (part, percent(row["median_error"]), percent(row["worst_error"]), row["identifiable"])
        for part, row in answer["by_part"].items()
    ]
    notes = (
        (
            f"median error of the {answer['identifiable']} identifiable masses of {answer['of']}: "
            f"{percent(answer['median_error'])} (goal: under {percent(answer['goal'], 0)}; "
            f"met: {yes_or_no(answer['met'])}); with phi2 alone {percent(answer['median_error_pure_phi2'])}."
        ),
    )
    return ResultTable(("mass", "median error", "worst", "identifiable"), rows, notes)


def motoflex_fit(answer: Mapping[str, Any]) -> ResultTable:
    """How far the error fell in each fit."""
    rows = [
        (str(run["seed"]), f"{run['error']['start']:.4g}", f"{run['error']['end']:.4g}", f"{run['cut']:.1f}x")
        for run in answer["runs"]
    ]
    notes = (
        (
            f"the error fell {answer['median_cut']:.1f}x (median), {answer['least_cut']:.1f}x at least "
            f"(goal: {answer['goal']:g}x in every fit; met: {yes_or_no(answer['met'])})."
        ),
    )
    return ResultTable(("seed", "F before", "F after", "cut"), rows, notes)


def simspark(answer: Mapping[str, Any]) -> ResultTable:
    """Replays of the league's own simulator before and after identification."""
    units = answer["units"]
    rows = [
        (name, part, *(number(values[kind], 3) for kind in units))
        for name, parts in answer["table"].items()
        for part, values in parts.items()
    ]
    ratios = ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in answer["part_left"].items())
    return ResultTable(
        ("", "", *(f"{kind} [{unit}]" for kind, unit in units.items())),
        rows,
        (f"after / before: {ratios} (goal: at most 0.5).",),
    )


def walk_table2(answer: Mapping[str, Any]) -> ResultTable:
    """Speeds of the agents, the paper's in brackets; then every goal."""
    ways = ("forward", "backward", "sideways")
    rows = [
        (
            name,
            *(_speed(row["speeds"][way], row["paper"][way]) for way in ways),
            number(row["speeds"]["turn"]["mean"], 2),
            "+".join(str(row["speeds"][way]["falls"]) for way in (*ways, "turn")),
            f"{row['changes']['falls']} of {row['changes']['trials']}",
            f"{row['fitness']['mean']:.1f} ±{row['fitness']['se']:.1f}",
            number(row["fitness_ratio"], 2),
        )
        for name, row in answer["agents"].items()
    ]
    columns = ("agent", *ways, "turn", "falls", "in changes", "course", "/ Initial")
    settings = answer["settings"]
    notes = [
        (
            "m/s over 10 s from standing ± standard error (the paper's), turning in rad/s; falls forward, backward, "
            f"sideways and turning; falls with a new direction every 3 s for {3 * settings['changes']} s; fitness on "
            "the course of goToTarget. "
            f"{settings['trials']} starts a seed, seeds {settings['seeds'][0]} to {settings['seeds'][-1]}."
        ),
        *(f"{name}: not measured, there is no {file}" for name, file in answer["missing"].items()),
        *(_made(name, row["made"]) for name, row in answer["agents"].items()),
        *(goal["sentence"] for goal in answer["goals"]),
    ]
    return ResultTable(columns, rows, tuple(notes))


def _speed(ours: Mapping[str, Any], paper: float | None) -> str:
    told = "" if paper is None else f" ({paper:.2f})"
    return f"{ours['mean']:.3f} ±{ours['se']:.3f}{told}"


def _made(name: str, made: Mapping[str, Any]) -> str:
    """What made a walk: the effort and the command."""
    if not made["command"]:
        return f"{name}: made by hand."
    return f"{name}: seed {made['seed']}, {made['evaluations']:,} evaluations, {made['command']}"


def walk_table3(answer: Mapping[str, Any]) -> ResultTable:
    """Goal differences of the agents beside the paper's; then both orders."""
    rows = [
        (
            f"{row['home']} – {row['away']}",
            _goals(row["difference"], row["error"]),
            f"{row['wins']}/{row['draws']}/{row['losses']}",
            _goals(row["paper_difference"], row["paper_error"]),
            row["verdict"],
        )
        for row in answer["pairs"]
    ]
    settings, counts = answer["settings"], answer["agreements"]
    notes = [
        (
            f"goals a game of the first more than of the second (standard error): {settings['games']} games of "
            f"{settings['halves']} x {settings['half_length']:g} s for each pair, {settings['players']} against "
            f"{settings['players']}; the paper's are 100 games of 2 x 300 s, 9 against 9."
        ),
        (
            f"{counts['agrees']} pairs agree, {counts['differs']} differ, {counts['open']} are open: their difference "
            "is not clear (more than two standard errors) in so few games."
        ),
        f"order here: {_order(answer['strengths'])}.",
        f"the paper's: {_order(answer['paper_strengths'])}; rank correlation {number(answer['rank_correlation'], 2)}.",
        *(f"{name}: did not play, its walk is not there." for name in answer["missing"]),
        *(f"broke off: {text}" for text in answer["broken"]),
    ]
    return ResultTable(("pair", "here", "won/drawn/lost", "paper", ""), rows, tuple(notes))


def _order(strengths: Mapping[str, float]) -> str:
    """Names from the strongest to the weakest, with an equals sign between those who are alike."""
    names = sorted(strengths, key=lambda name: -strengths[name])
    text = names[0] if names else "nobody"
    for before, name in itertools.pairwise(names):
        text += f"{' = ' if abs(strengths[before] - strengths[name]) < 1e-6 else ', '}{name}"
    return text


def _goals(difference: float | None, error: float | None) -> str:
    return "-" if difference is None else f"{difference:+.2f}" + ("" if error is None else f" ({error:.2f})")


def walk_robustness(answer: Mapping[str, Any]) -> ResultTable:
    """The share of each walk that survives each impulse; then what other motors cost."""
    impulses = [row["impulse"] for row in answer["pushes"][0]["impulses"]] if answer["pushes"] else []
    rows = [
        (
            f"{curve['walk']}, {curve['actuation']}",
            "walking" if curve["walking"] else "on the spot",
            *(percent(row["share"], 0) for row in curve["impulses"]),
            number(curve["half"], 2),
        )
        for curve in answer["pushes"]
    ]
    pushed = answer["settings"]["pushes"]
    notes = [
        (
            f"share on their feet {pushed['watched']:g} s after a push of {pushed['duration']:g} s, "
            f"{pushed['trials']} starts in each of four directions; half survive the impulse of the last column."
        ),
        *(f"{name}: not pushed, there is no {file}" for name, file in answer["missing"].items()),
        *(_transferred(row) for row in answer["transfer"]),
    ]
    for why in dict.fromkeys(answer["not_transferred"].values()):
        names = ", ".join(name for name, reason in answer["not_transferred"].items() if reason == why)
        notes.append(f"not tried on other motors, for {why}: {names}.")
    return ResultTable(("walk", "pushed", *(f"{one:g} N s" for one in impulses), "half [N s]"), rows, tuple(notes))


def _transferred(row: Mapping[str, Any]) -> str:
    """A sentence about a walk on an actuation."""
    parts = [
        f"{way} {speed['mean']:.3f} ± {speed['se']:.3f}"
        + ("" if row["actuation"] == "ideal" or row["loss"][way] is None else f" (loss {percent(row['loss'][way])})")
        for way, speed in row["speeds"].items()
    ]
    return f"{row['walk']} on {row['actuation']}: {', '.join(parts)}; {row['falls']} of {row['trials']} fell."


def camera_localisation(answer: Mapping[str, Any]) -> ResultTable:
    """Errors of believed poses, by what the robot was given."""
    rows = [
        (
            name,
            number(row["median_error"]),
            number(row["median_turn"], 2, DEGREES),
            number(row["late_error"]),
            number(row["late_turn"], 2, DEGREES),
            percent(row["good"]),
            number(row["found_again"], 1),
        )
        for name, row in answer["conditions"].items()
    ]
    columns = ("", "median [m]", "median [deg]", "95 % [m]", "95 % [deg]", "within the goal", "carried: found [s]")
    best, settings = answer["conditions"]["pictures"], answer["settings"]
    notes = (
        (
            f"medians over {settings['seeds']} walks of {settings['seconds']:g} s on {settings['field']}, pose unknown "
            f"at first; shaken: head angles wrong by {settings['sway']:g} rad, pixels by {settings['noise']:g} of 255."
        ),
        (
            f"goal: medians under {answer['goal']['error']:g} m and {answer['goal']['turn'] * DEGREES:g} deg; worst "
            f"walk {best['worst_median_error']:.3f} m and {best['worst_median_turn'] * DEGREES:.2f} deg; "
            f"met: {yes_or_no(answer['met'])}."
        ),
        f"carried away at the end of the walk, {best['found']} of {settings['seeds']} found themselves again.",
    )
    return ResultTable(columns, rows, notes)


def behaviour_predicts(answer: Mapping[str, Any]) -> ResultTable:
    """How strong strategies are in both worlds."""
    columns = ("strategy", "physical", "± error", "behavioural", "calibrated")
    rows = [
        (
            row["strategy"],
            number(row["physical"], 2),
            number(row["physical_error"], 2),
            number(row["before"], 2),
            number(row["after"], 2),
        )
        for row in answer["table"]
    ]
    notes = [
        f"rank correlation {word} calibration: Spearman {number(one['spearman'], 2)} "
        f"({number(one['spearman_interval'][0], 2)} to {number(one['spearman_interval'][1], 2)}), "
        f"Kendall {number(one['kendall'], 2)} ({number(one['kendall_interval'][0], 2)} to "
        f"{number(one['kendall_interval'][1], 2)}); goal {answer['goal']}, met: {yes_or_no(one['met'])}. "
        f"Strengths differ by {number(one['error'], 2)} goals a game."
        for word, one in (("before", answer["before"]), ("after", answer["after"]))
    ]
    size = answer["settings"]
    notes.append(
        f"goals a game more than the opponents', {size['players']} against {size['players']} on {size['field']}, "
        f"{size['half_length']:g} s; {answer['physical_games']} physical and {answer['behavioural_games']} behavioural "
        "games."
    )
    return ResultTable(columns, rows, tuple(notes))


def openr_ball(answer: Mapping[str, Any]) -> ResultTable:
    """Starts of an AIBO that goes to the ball, and what came of each."""
    columns = ("robot", "start", "ball away [m]", "ball at [deg]", "reached", "after [s]", "nearest [m]")
    rows = [
        (
            trial["robot"],
            str(trial["seed"]),
            number(trial["start"]["distance"], 2),
            number(trial["start"]["bearing"], 0, DEGREES),
            yes_or_no(trial["reached"]),
            number(trial["seconds"], 1),
            number(trial["nearest"], 2),
        )
        for trial in answer["trials"]
    ]
    settings = answer["settings"]
    each = ", ".join(f"{robot} {one['reached']} of {one['starts']}" for robot, one in answer["robots"].items())
    note = (
        f"reached the ball (within {settings['reached']:g} m of the middle of the trunk) in {settings['seconds']:g} s: "
        f"{each}; goal: 9 of 10. Program: {settings.get('client', 'python')}."
    )
    return ResultTable(columns, rows, (note,))


TABLES: dict[str, Callable[[Mapping[str, Any]], ResultTable]] = {
    "motoflex-walk": motoflex_walk,
    "servo-xl330": servo_xl330,
    "btr-ant": btr_ant,
    "btr-nao": btr_nao,
    "motoflex-fit": motoflex_fit,
    "openr-ball": openr_ball,
    "simspark": simspark,
    "walk-table2": walk_table2,
    "walk-table3": walk_table3,
    "walk-robustness": walk_robustness,
    "behaviour-predicts": behaviour_predicts,
    "camera-localisation": camera_localisation,
}
