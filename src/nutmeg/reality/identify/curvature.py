"""The covariance of estimates from the curvature of the error where a fit ended.

    found = curvature(residuals, space, result.best.candidate)        # residuals: (n, k) -> series of (n, rows)
    found.standard_errors, found.correlation                          # (k,), (k, k), in shares of the ranges

All values are in the unit cube of the space, where every parameter runs from 0 to 1 along its scale.

**With residuals** (Gauss-Newton; Seber and Wild, Nonlinear Regression, 1989, chapters 2 and 5): with the Jacobian
J = U S V', the estimates vary by V S^-1 K S^-1 V', where K = U' R U and R is the covariance of the residuals, taken
series by series from an autoregression of theirs (Burg's recursion): errors that last count as few samples. Residuals
are smaller than the noise, as the parameters took a part of it away, and lasting noise seems to last less long. So K is
estimated once more from noise that is drawn with it, and corrected by what comes out (a parametric bootstrap); how far
these estimates vary gives the degrees of freedom (Satterthwaite).

Slopes come from parabolas through five points, a step apart and two smaller ones: long steps bend, short ones feel the
roughness of the simulation. Those count that reach about as far as the estimates vary. What a slope still errs by is
taken off J' J, or else the errors of two slopes would tell parameters apart that no data can.

**With other losses than squares** (`search.losses`) the estimate is an M-estimate, and the covariance the sandwich of
Huber (Robust Statistics, 1981, chapter 7): a residual r counts by its pull psi(r), so that an outlier counts no more
than any other large residual, and slopes by the mean m of psi' over their series. Rows are scaled by sqrt(m), and their
residuals are psi / sqrt(m). Absolute residuals are smoothed as at the end of a search, psi = r / (abs(r) + c): such an
estimate varies less than the median would (normal residuals: by 11 % more than that of squares instead of 25 %).

What the data do not say at all is limited by a prior as wide as the range: a parameter without effect has a
standard error of 1, the whole range.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import stdtrit

from nutmeg.base.arrays import Floats, Indices
from nutmeg.base.errors import UsageError
from nutmeg.search.losses import ROBUST_LOSSES, SMOOTHING, Loss, loss_bends, loss_weights, smoothed_bend
from nutmeg.search.space import Space

Residuals = Callable[[Floats], Floats | Sequence[Floats]]
"""Residuals of candidates (n, k) in SI units: (n, rows), or such an array for every series (a channel of a trial)."""
MIN_SERIES_LENGTH = 16
"""Series of fewer rows say nothing about how long errors last; those of all of them count as independent."""
STEP_FACTORS = (1.0, 1 / 4, 1 / 16)
"""The steps that are tried, as parts of the longest."""
MAX_SLOPE_ERROR = 0.1
"""Slopes over the distance by which estimates vary may err by this share of their square."""
MAX_AUTOREGRESSION_ORDER = 30
"""The highest order of the autoregression that is tried."""
NOISE_DRAWS = 60
"""Series of noise that are drawn to see by how much an estimate of their covariance errs."""
NOISE_SEED = 0
"""Seed of these, so that the same residuals have the same intervals."""


@dataclass(frozen=True, kw_only=True)
class Curvature:
    """What the neighbourhood of an estimate says about it; in the unit cube but for `best`."""

    best: Floats
    """The estimate, (k,), in SI units."""
    covariance: Floats
    """The covariance of the estimates, (k, k); no variance exceeds 1, the square of the whole range."""
    shift: Floats
    """From the estimate to where the quadratic picture has its minimum, (k,): large if the search ended early."""
    roughness: Floats
    """The share of each parameter's effect that is only roughness of the simulation, (k,), 0 to 1."""
    failed: tuple[int, ...]
    """Parameters (their numbers) whose neighbours could not be simulated."""
    freedom: float
    """Degrees of freedom for Student's t: independent samples less parameters."""
    evaluations: int
    """Candidates that were simulated for it."""

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of the estimates, (k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> Floats:
        """Correlation of the estimates, (k, k)."""
        return correlation_of(self.covariance)


def correlation_of(covariance: Floats) -> Floats:
    """The correlation matrix, (k, k); a quantity that does not vary correlates with nothing."""
    spread = np.sqrt(np.diag(covariance))
    scaled = covariance / np.where(spread > 0, np.outer(spread, spread), 1.0)
    np.fill_diagonal(scaled, 1.0)
    return np.clip(scaled, -1.0, 1.0)


def interval_factor(confidence: float, freedom: float) -> float:
    """Half the width of a confidence interval in standard errors: the quantile of Student's t distribution."""
    return float(stdtrit(freedom, 0.5 + confidence / 2))


def curvature(
    residuals: Residuals,
    space: Space,
    best: Floats,
    *,
    step: float = 0.02,
    correlated: bool = True,
    loss: Loss = "squares",
) -> Curvature:
    """The curvature of a loss of residuals.

    Args:
        residuals: of many candidates at once; see `Residuals`. Rows that are nan at the estimate are left out; a
            candidate that is not finite elsewhere has failed.
        space: what was searched.
        best: the estimate, (k,), in SI units.
        step: the longest between neighbours, as a share of the range; a quarter and a sixteenth are tried as well.
        correlated: whether errors may last over several rows; without it every row counts as a sample of its own.
        loss: what the estimate minimises.
    """
    _check_step(step)
    centre = space.unit(best)
    stencils = [[_offsets(at, step * shrink) for shrink in STEP_FACTORS] for at in centre]
    around = [_along(centre, i, offsets) for i, stencil in enumerate(stencils) for offsets in stencil]
    points = np.concatenate([[centre], *around])
    rows, lengths = _joined(residuals(space.values(points)), len(points), space.size)
    errors, scales = _pulls(rows[0], lengths, loss)
    rows = rows * scales
    noise_of = partial(_noise, lengths=lengths, correlated=correlated)
    # Slopes are those over the distance by which the estimates vary, which the first ones tell.
    first = _covariance(errors, *_jacobian(rows, stencils)[:2], partial(noise_of, corrected=False))
    jacobian, doubt, failed = _jacobian(rows, stencils, np.sqrt(np.diag(first.covariance)))
    found = _covariance(errors, jacobian, doubt, noise_of)
    effect = (jacobian**2).sum(axis=0)
    return Curvature(
        best=np.array(best, float),
        covariance=found.covariance,
        shift=np.clip(centre + found.shift, 0, 1) - centre,
        roughness=np.where(effect > 4 * found.ridge, np.minimum(1, 2 * doubt / np.maximum(effect, 1e-300)), 0.0),
        failed=failed,
        freedom=found.freedom,
        evaluations=len(points),
    )


@dataclass(frozen=True)
class _Covariance:
    """What slopes and residuals say about the estimates, in the unit cube."""

    covariance: Floats
    """Covariance of the estimates, (k, k)."""
    shift: Floats
    """From the estimate to the minimum, (k,)."""
    freedom: float
    ridge: float
    """The mean variance of the noise along a direction of the slopes."""


def _covariance(
    errors: Floats, jacobian: Floats, doubt: Floats, noise_of: Callable[[Floats, Floats], tuple[Floats, float]]
) -> _Covariance:
    """The covariance of the estimates, from slopes (rows, k) whose squares err by the doubt (k,)."""
    k = jacobian.shape[1]
    squares, v = np.linalg.eigh(jacobian.T @ jacobian - np.diag(2 * doubt))
    s, u = np.sqrt(np.maximum(squares, 0)), jacobian @ v
    u = u / np.maximum(np.linalg.norm(u, axis=0), 1e-300)
    noise, freedom = noise_of(errors, u)
    precision = (v * s) @ np.linalg.solve(noise, (v * s).T) + np.eye(k)
    ridge = float(np.trace(noise)) / k
    shift = -v @ (s / (s**2 + ridge) * (u.T @ errors))
    return _Covariance(np.linalg.inv((precision + precision.T) / 2), shift, freedom, ridge)


def _joined(found: Floats | Sequence[Floats], candidates: int, k: int) -> tuple[Floats, list[int]]:
    """All residuals side by side, (candidates, rows), without those that are missing; and the length of each series."""
    groups = [np.asarray(found)] if isinstance(found, np.ndarray) else [np.asarray(group) for group in found]
    kept = [group[:, np.isfinite(group[0])] for group in groups]
    rows = np.concatenate(kept, axis=1)
    if len(rows) != candidates or rows.shape[1] <= k:
        raise UsageError(
            f"{rows.shape[1]} residuals of {len(rows)} candidates that can be used; needed are those of {candidates} "
            f"candidates, and more than the {k} parameters."
        )
    return rows, [group.shape[1] for group in kept]


def _check_step(step: float) -> None:
    if not 0 < step <= 0.1:
        raise UsageError(f"the step is {step:g} of the range; allowed is more than 0 and up to 0.1.")


def _offsets(at: float, step: float) -> Floats:
    """The four nearest multiples of the step that stay in the range."""
    steps = np.array(sorted(range(-4, 5), key=abs)[1:]) * step
    return steps[(at + steps >= 0) & (at + steps <= 1)][:4]


def _along(centre: Floats, index: int, offsets: Floats) -> Floats:
    """Neighbours along one axis, (n, k)."""
    points = np.tile(centre, (len(offsets), 1))
    points[:, index] += offsets
    return np.clip(points, 0.0, 1.0)


def _jacobian(
    rows: Floats, stencils: list[list[Floats]], spread: Floats | None = None
) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Slopes (rows, k), the square of what each column errs by (k,), and which columns are unknown.

    Of each parameter those slopes count that err least; where it is known how far the estimates spread, (k,), those of
    the shortest step that is as long: where the simulation is rough, shorter ones feel roughness that does not matter.
    """
    jacobian, doubt = np.zeros((rows.shape[1], len(stencils))), np.zeros(len(stencils))
    failed, first = [], 1
    for index, stencil in enumerate(stencils):
        usable, steps = [], []
        for offsets in stencil:
            slope = _slope(rows[:1], rows[first : first + len(offsets)], offsets)
            first += len(offsets)
            if slope is not None:
                usable.append(slope)
                steps.append(float(np.abs(offsets).min()))
        if usable:
            errors = _slope_errors(usable)
            chosen = int(np.argmin(errors))
            if spread is not None:
                long = max([i for i, step in enumerate(steps) if step >= spread[index]], default=0)
                if errors[long] < MAX_SLOPE_ERROR * float(usable[long][0] @ usable[long][0]):
                    chosen = long
            jacobian[:, index], doubt[index] = usable[chosen][0], errors[chosen]
        else:
            failed.append(index)
    return jacobian, doubt, tuple(failed)


def _slope(here: Floats, neighbours: Floats, offsets: Floats) -> tuple[Floats, float] | None:
    """The slope (rows,) of a parabola, and the square of what it errs by chance; nothing if too few did not fail."""
    fine = np.isfinite(neighbours).all(axis=1)
    if fine.sum() < 3:
        return None
    size = float(np.abs(offsets).max())
    x, y = np.concatenate([[0.0], offsets[fine]]) / size, np.concatenate([here, neighbours[fine]])
    powers = np.vander(x, 3, increasing=True)
    fit = np.linalg.pinv(powers)
    coefficients = fit @ y
    left = float(((y - powers @ coefficients) ** 2).sum()) / (len(x) - 3)
    return np.asarray(coefficients[1] / size), left * float((fit[1] ** 2).sum()) / size**2


def _slope_errors(slopes: list[tuple[Floats, float]]) -> list[float]:
    """The square of what slopes of ever shorter steps err by: chance, and what a shorter step finds otherwise.

    The error of bending falls with the square of the step.
    """
    errors = []
    bends = 0.0
    for (slope, chance), (shorter, its_chance) in itertools.pairwise(slopes):
        bends = max(0.0, float(((slope - shorter) ** 2).sum()) - chance - its_chance)
        errors.append(chance + bends)
    return [*errors, slopes[-1][1] + bends * (STEP_FACTORS[1] / STEP_FACTORS[0]) ** 4]


CENTRE = 0.5
"""Half the window in which residuals near zero are counted, in robust deviations."""
CENTRE_SHARE = math.erf(CENTRE / math.sqrt(2))
"""The share of normal residuals in it."""


def _pulls(errors: Floats, lengths: Sequence[int], loss: Loss) -> tuple[Floats, Floats]:
    """What residuals weigh in a loss, psi / sqrt(m), and sqrt(m), the scale of their slopes, (rows,) each."""
    scales = np.ones_like(errors)
    if loss not in (*ROBUST_LOSSES, "absolute"):
        return errors, scales
    pulls = errors * loss_weights(loss, errors, SMOOTHING[1])
    bends = loss_bends(loss, errors) if loss in ROBUST_LOSSES else scales
    corner = SMOOTHING[1] * float(np.abs(errors).mean())
    for part in _series(lengths):
        bend = float(bends[part].mean()) if loss in ROBUST_LOSSES else _absolute_bend(errors[part], corner)
        if bend > 0:
            scales[part] = math.sqrt(bend)
        else:  # residuals that are mostly zero have no deviation, and stay as they are
            pulls[part] = errors[part]
    return pulls / scales, scales


def _absolute_bend(errors: Floats, corner: float) -> float:
    """The mean of psi' of smoothed absolute residuals.

    It is a peak at zero with few residuals in it. So they are counted in a wider window, and have the peak's share of
    normal residuals.
    """
    deviation = robust_deviation(errors)
    if deviation == 0:
        return 0.0
    centre = float((np.abs(errors) <= CENTRE * deviation).mean())
    return centre / CENTRE_SHARE * smoothed_bend(corner, deviation)


def robust_deviation(errors: Floats) -> float:
    """The standard deviation of normal residuals whose median of absolute values is as here."""
    return 1.4826 * float(np.median(np.abs(errors)))


def _noise(
    errors: Floats, u: Floats, lengths: Sequence[int], *, correlated: bool, corrected: bool = True
) -> tuple[Floats, float]:
    """K = U' R U, (k, k), never less than with independent residuals; and the degrees of freedom of it."""
    k, total = u.shape[1], len(errors)
    least, rest = np.finfo(float).tiny, float(max(total - k, 1))
    power = float(errors @ errors) / total
    if not correlated or power < 1e-200:
        return np.eye(k) * max(power * total / rest, least), rest
    errors, parts = errors / math.sqrt(power), _series(lengths)
    spectra = [_spectra(errors[part][np.newaxis], len(part) >= MIN_SERIES_LENGTH)[0] for part in parts]
    powers = [_power(u[part], len(spectrum)) for part, spectrum in zip(parts, spectra, strict=True)]
    ridge = np.eye(k) * 1e-9  # a parameter without slopes has no noise either
    noise = _summed(spectra, powers) + ridge
    white = ridge + sum(float(errors[part] @ errors[part]) / len(part) * u[part].T @ u[part] for part in parts)
    freedom = rest
    if corrected and any(np.ptp(spectrum) > 0 for spectrum in spectra):
        # Estimates of the same kind from noise that is drawn with this covariance and fitted by the same slopes tell
        # by how much this one is too small (parameters take errors out of residuals, lasting ones more than others).
        rng, drawn = np.random.default_rng(NOISE_SEED), np.zeros((NOISE_DRAWS, total))
        for part, spectrum in zip(parts, spectra, strict=True):
            drawn[:, part] = _drawn(spectrum, len(part), rng)
        drawn -= (drawn @ u) @ np.linalg.solve(u.T @ u + 1e-12 * np.eye(k), u.T)
        again = _summed([_spectra(drawn[:, part], len(part) >= MIN_SERIES_LENGTH) for part in parts], powers) + ridge
        root = np.linalg.cholesky(noise)
        inverse = np.linalg.inv(root)
        ratios = inverse @ again @ inverse.T  # drawn estimates over the covariance they were drawn with, (draws, k, k)
        noise = root @ np.linalg.inv(ratios.mean(axis=0)) @ root.T
        spread = np.diagonal(ratios, axis1=1, axis2=2)
        freedom = 2 / float(np.mean((spread.std(axis=0, ddof=1) / spread.mean(axis=0)) ** 2))  # Satterthwaite
    noise = _at_least(noise, white * total / max(rest, total / 2))
    return power * noise, min(max(freedom, 1.0), rest)


def _summed(spectra: Sequence[Floats], powers: Sequence[Floats]) -> Floats:
    """U' R U over all series, (..., k, k), from spectra (..., frequencies) and cross powers (frequencies, k, k)."""
    return np.asarray(sum(np.tensordot(one, power, 1) for one, power in zip(spectra, powers, strict=True)))


def _at_least(noise: Floats, white: Floats) -> Floats:
    """The covariance of noise, (k, k), made as large as that of independent residuals in every direction."""
    root = np.linalg.cholesky(white + np.eye(len(white)) * np.trace(white) * 1e-12)
    inner = np.linalg.solve(root, np.linalg.solve(root, noise).T)
    sizes, axes = np.linalg.eigh((inner + inner.T) / 2)
    return np.asarray(root @ (axes * np.maximum(sizes, 1.0)) @ axes.T @ root.T)


def _series(lengths: Sequence[int]) -> list[Indices]:
    """The rows of each series; those of all that are short, such as the fitness of a trial, together."""
    parts = np.split(np.arange(sum(lengths)), np.cumsum(lengths)[:-1])
    short = [part for part in parts if len(part) < MIN_SERIES_LENGTH]
    together = [np.concatenate(short)] if sum(map(len, short)) else []
    return [part for part in parts if len(part) >= MIN_SERIES_LENGTH] + together


def _spectra(errors: Floats, lasting: bool) -> Floats:
    """The spectra of N series (N, rows) at the frequencies of `_power`, (N, 4 rows + 1).

    They are those of the best autoregression (Burg's recursion, order by BIC), or white where errors do not last.
    """
    count, rows = errors.shape
    power = np.maximum((errors**2).mean(axis=1), 1e-100)
    most = 8 * rows * power[:, np.newaxis]  # all power in one frequency
    orders = min(MAX_AUTOREGRESSION_ORDER, rows // 8) if lasting else 0
    model = np.zeros((count, orders + 1))
    model[:, 0] = 1.0
    best, chosen, left = rows * np.log(power), model.copy(), power.copy()
    forward, backward = errors, errors
    for order in range(1, orders + 1):
        ahead, behind = forward[:, 1:], backward[:, :-1]
        total = np.maximum((ahead**2).sum(axis=1) + (behind**2).sum(axis=1), 1e-300)
        reflection = (-2 * (behind * ahead).sum(axis=1) / total)[:, np.newaxis]
        forward, backward = ahead + reflection * behind, behind + reflection * ahead
        model[:, 1 : order + 1] += reflection * model[:, order - 1 :: -1]
        power = np.maximum(power * (1 - reflection[:, 0] ** 2), 1e-100)
        worth = rows * np.log(power) + order * math.log(rows)
        better = worth < best
        best, left = np.where(better, worth, best), np.where(better, power, left)
        chosen[better] = model[better]
    response = np.abs(np.fft.rfft(chosen, 8 * rows, axis=1)) ** 2
    return np.asarray(left[:, np.newaxis] / np.maximum(response, left[:, np.newaxis] / most))


def _power(columns: Floats, frequencies: int) -> Floats:
    """The cross power of columns (rows, k), (frequencies, k, k); U' R U is its sum with the spectrum of R."""
    size = 2 * (frequencies - 1)
    waves = np.fft.rfft(columns, size, axis=0)
    share = np.full(frequencies, 2.0 / size)  # every frequency stands for its negative as well, but the first and last
    share[[0, -1]] /= 2
    return np.asarray(np.einsum("f,fi,fj->fij", share, waves.conj(), waves).real)


def _drawn(spectrum: Floats, rows: int, rng: np.random.Generator) -> Floats:
    """Noise with a spectrum, (draws, rows)."""
    size = 2 * (len(spectrum) - 1)
    white = np.fft.rfft(rng.standard_normal((NOISE_DRAWS, size)), axis=1)
    return np.asarray(np.fft.irfft(white * np.sqrt(spectrum), size, axis=1)[:, :rows])
