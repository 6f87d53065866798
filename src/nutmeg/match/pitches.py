"""A rule book on a field, both by name.

rules = rules_on("spl2011", "spl2025")          # the book of 2011 with the measures and the ball of 2025
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nutmeg.body.ball import load_ball
from nutmeg.body.field import load_field
from nutmeg.errors import UsageError
from nutmeg.match.rules import load_rules, pitch_of

if TYPE_CHECKING:
    from nutmeg.match.rules import Rules


def rules_on(book: str, field: str) -> Rules:
    """The rules of a book (a name, or a TOML file) on a field, which needs goals and penalty areas."""
    ground = load_field(field)
    if ground.goal is None or ground.penalty_area is None:
        raise UsageError(f"the field {field!r} has no goals or no penalty areas; a match needs both.")
    return load_rules(book).on(pitch_of(ground, load_ball(ground.ball)))
