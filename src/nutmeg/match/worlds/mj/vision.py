"""The landmarks of a field as players of this league see them.

    marks = landmarks(load_field("fifa7vs7"))
    marks["t_ruga"]         # (27.5, 7.3, 0.0)

Names: the first letter says what it is (`l` a corner, `t` and `x` where lines meet or cross, `p` a penalty mark, `g` a
goal post), then left, centre or right, upper (y > 0) or lower, and the field, circle, goal area or penalty area it
belongs to. The order is that in which rcssservermj 0.2.1 tells them; the ball `B` comes last.

A quirk that its clients have adapted to is kept: the corners of goal areas and penalty areas are told at the full width
of the area instead of half of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.base.errors import UsageError

if TYPE_CHECKING:
    from nutmeg.model.field import FieldSettings

Place = tuple[float, float, float]
BALL_MARK = "B"
VISION_CYCLES = 2
"""Players see in every second cycle."""


def landmarks(field: FieldSettings) -> dict[str, Place]:
    """Landmarks by name [m], in the order of the wire, without the ball."""
    if field.goal is None or field.goal_area is None:
        raise UsageError(f"the field {field.name!r} has no goals or no goal areas; this league's players need both.")
    x, y = field.length / 2, field.width / 2
    mark, post = x - field.penalty_mark_distance, field.goal.inner_width / 2
    found: dict[str, Place] = {}
    for side, sign in (("l", -1), ("r", 1)):
        found |= {f"l_{side}uf": (sign * x, y, 0.0), f"l_{side}lf": (sign * x, -y, 0.0)}
    found |= {"t_cuf": (0.0, y, 0.0), "t_clf": (0.0, -y, 0.0)}
    found |= {"x_cuc": (0.0, field.centre_circle_radius, 0.0), "x_clc": (0.0, -field.centre_circle_radius, 0.0)}
    found |= {"p_lpm": (-mark, 0.0, 0.0), "p_rpm": (mark, 0.0, 0.0)}
    for side, sign in (("l", -1), ("r", 1)):
        found |= {
            f"g_{side}up": (sign * x, post, field.goal.height),
            f"g_{side}lp": (sign * x, -post, field.goal.height),
        }
    for area, letters in ((field.goal_area, "ga"), (field.penalty_area, "pa")):
        if area is None:
            continue
        for kind, depth in (("l", area.depth), ("t", 0.0)):
            for side, sign in (("l", -1), ("r", 1)):
                found[f"{kind}_{side}u{letters}"] = (sign * (x - depth), area.width, 0.0)
                found[f"{kind}_{side}l{letters}"] = (sign * (x - depth), -area.width, 0.0)
    return found
