"""Which model variant carries over: cross-validation over recordings or conditions.

    [variants.simple]                       # of the configuration of an identification
    search = ["coulomb", "viscous"]         # the others of [parameters] stay at their start
    [variants.squeezed]
    search = ["*"]
    [selection]
    by = "condition"                        # leave out one gain at a time; or "recording"

    scores = compare_variants(fit, evaluator, folder=Path("runs/identify-1/variants"))
    scores[0].name, scores[0].held_out      # the variant with the smallest error on what it was not fitted to

Terms may be freed one at a time instead, as long as that improves predictions (`free_terms`):

    [selection]
    terms = ["load_friction", "delay"]      # of [parameters]; they stay at their start until they are needed

Each variant is fitted once to all recordings, and once without each fold, whose error is then measured. A model with
more terms always fits better; the one that is chosen predicts best what it has not seen. Akaike's criterion of the fit
to everything, 2 n log(error) + 2 k for n samples and k parameters, is told beside it; it takes samples for independent,
which those of a recording are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.base.errors import UnknownNameError, UsageError
from nutmeg.reality.distances.distance import LOSSES
from nutmeg.reality.identify.identification import Identification
from nutmeg.reality.identify.settings import SelectionSettings, VariantSettings
from nutmeg.reality.logs.replay import MeasuredTrial
from nutmeg.reality.twin import held_at_start
from nutmeg.search.losses import loss_values

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nutmeg.base.arrays import Floats
    from nutmeg.reality.identify.settings import IdentifySettings
    from nutmeg.reality.logs.replay import Files, RealData
    from nutmeg.search.evaluation import Evaluator


@dataclass(frozen=True, kw_only=True)
class VariantScore:
    """How well a variant does."""

    name: str
    parameters: tuple[str, ...]
    """Names of the parameters that it searches."""
    train: float
    """Its error on the recordings that it was fitted to, in the reported unit."""
    held_out: float
    """The mean of its errors on folds that it was not fitted to."""
    folds: dict[str, float]
    """The error on each fold, when it was left out."""
    aic: float
    """Akaike's criterion; nan for distances that are not made of residuals."""


def variant_settings(settings: IdentifySettings, name: str) -> IdentifySettings:
    """The identification of one variant: what it does not search stays at its start."""
    if name not in settings.variants:
        raise UnknownNameError("variant", name, settings.variants)
    patterns = settings.variants[name].search
    for pattern in patterns:
        if not any(fnmatchcase(one, pattern) for one in settings.parameters):
            raise UnknownNameError("parameter", pattern, settings.parameters, where=f"[variants.{name}]")
    searched = {n: p for n, p in settings.parameters.items() if any(fnmatchcase(n, pattern) for pattern in patterns)}
    fixed = held_at_start({n: p for n, p in settings.parameters.items() if n not in searched})
    robot = replace(settings.robot, adjustments=(*settings.robot.adjustments, *fixed))
    selection = replace(settings.selection, terms=())
    return replace(settings, robot=robot, parameters=searched, variants={}, selection=selection)


def compare_variants(
    settings: IdentifySettings,
    train: Files,
    seed: int,
    evaluator: Evaluator,
    *,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[VariantScore]:
    """Scores of all variants, the one that carries over best first.

    Args:
        settings: of the identification, with variants.
        train: the recordings; those that are held out from everything play no part.
        seed: of the searches.
        evaluator: where candidates are simulated.
        folder: where generations are saved, and gone on from.
        say: called with what is fitted.
    """
    scores = []
    for name in settings.variants:
        fit = Identification(variant_settings(settings, name), train=train, held_out={}, seed=seed)
        folds = _folds(fit.measured, settings.selection.by)
        if len(folds) < 2:
            raise UsageError(
                f"there is one {settings.selection.by} alone to fit, {next(iter(folds))}; comparing variants needs two "
                "or more. Add recordings, or set `by` of [selection]."
            )
        errors = {}
        for number, (fold, sources) in enumerate(folds.items()):
            say(f"variant {name}, without {fold}")
            kept = tuple(m for m in fit.measured if m.source not in sources)
            result = fit.search(seed, evaluator, folder=_inside(folder, name, str(number)), measured=kept)
            errors[fold] = _error(fit, result.estimate, sources)
        say(f"variant {name}, all recordings")
        whole = fit.search(seed, evaluator, folder=_inside(folder, name, "all"))
        scores.append(
            VariantScore(
                name=name,
                parameters=tuple(fit.twin.space.names),
                train=_error(fit, whole.estimate, {m.source for m in fit.measured}),
                held_out=float(np.mean(list(errors.values()))),
                folds=errors,
                aic=_aic(fit, whole.estimate),
            )
        )
    return sorted(scores, key=lambda score: score.held_out)


def free_terms(
    settings: IdentifySettings,
    train: Files,
    seed: int,
    evaluator: Evaluator,
    *,
    folder: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[VariantScore]:
    """Scores of the parameters that are searched from the beginning and of those with terms, the chosen ones first.

    In each round every term that is left is freed alone. The one that predicts best what was left out stays free, if
    the error there falls by `least_gain`; otherwise it is over.

    Args:
        settings: of the identification, with `terms` under [selection].
        train: the recordings; those that are held out from everything play no part.
        seed: of the searches.
        evaluator: where candidates are simulated.
        folder: where generations are saved, and gone on from.
        say: called with what is fitted.
    """

    def scored(variants: dict[str, tuple[str, ...]]) -> list[VariantScore]:
        named = {name: VariantSettings(search=search) for name, search in variants.items()}
        asked = replace(settings, variants=named, selection=replace(settings.selection, terms=()))
        return compare_variants(asked, train, seed, evaluator, folder=folder, say=say)

    free = settings.listed
    freed: tuple[str, ...] = ()
    (chosen,) = scored({"no term": free})
    scores = [chosen]
    while left := [name for name in settings.parameters if name not in (*free, *freed)]:
        tried = scored({f"with {', '.join((*freed, name))}": (*free, *freed, name) for name in left})
        scores += tried
        if not tried[0].held_out < (1 - settings.selection.least_gain) * chosen.held_out:
            break
        chosen = tried[0]
        freed = tuple(name for name in chosen.parameters if name not in free)
    return [chosen, *(one for one in scores if one is not chosen)]


def chosen_settings(settings: IdentifySettings, score: VariantScore) -> IdentifySettings:
    """The identification that searches the parameters of a score alone."""
    variant = VariantSettings(search=score.parameters)
    return variant_settings(
        replace(settings, variants={score.name: variant}, selection=SelectionSettings()), score.name
    )


def _inside(folder: Path | None, name: str, part: str) -> Path | None:
    return None if folder is None else folder / name / part


def _folds(measured: tuple[RealData, ...], by: str) -> dict[str, set[str]]:
    """Names of recordings that are left out together, by what they have in common."""
    folds: dict[str, set[str]] = {}
    for one in measured:
        name = one.source
        if by == "condition":
            conditions = one.trial.conditions if isinstance(one, MeasuredTrial) else ()
            name = ", ".join(f"{a.target} = {a.value:g}" for a in conditions) or "no condition"
        folds.setdefault(name, set()).add(one.source)
    return folds


def _error(fit: Identification, estimate: Floats, sources: set[str]) -> float:
    """The reported error of an estimate in some recordings, the mean over them."""
    measured = tuple(m for m in fit.reported if m.source in sources)
    values = fit.cost.of(measured).per_recording(estimate, fit.error)
    return fit.factor * float(np.mean([value[0] for value in values.values()]))


def _aic(fit: Identification, estimate: Floats) -> float:
    loss = LOSSES.get(fit.settings.distance.kind)
    if loss is None:
        return math.nan
    rows = fit.cost.rows(estimate[None])[0]
    error = float(loss_values("root" if loss == "squares" else loss, rows[None])[0])
    return 2 * len(rows) * math.log(max(error, 1e-300)) + 2 * fit.twin.space.size
