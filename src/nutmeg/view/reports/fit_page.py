"""The page of a fit: what `fit_report` holds, as one HTML file without scripts and without anything from elsewhere.

    text = page(report)

The pictures come from `fit_plots`, the look from `fit_page.css`. Every text of a user is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from nutmeg.view.reports import plots
from nutmeg.view.reports.fit import found_warnings, share_of_range
from nutmeg.view.reports.sheet import sheet

if TYPE_CHECKING:
    from nutmeg.view.reports.fit import FitReport, ParameterRow, RecordingRow, Series, Table

MOST_SERIES = 36
"""Series drawn; of more, those with the largest errors of each recording."""
KINDS = {"identify": "Identification", "btr": "Back-to-Reality", "learn": "Learning to walk"}


def page(report: FitReport) -> str:
    """The whole page."""
    parts = [
        ("video", "The walk", _video(report)),
        ("estimates", "Estimates", _estimates(report)),
        ("trade-offs", "What trades off", _trade_offs(report)),
        ("convergence", "Convergence", _convergence(report)),
        ("errors", "Learning and course" if report.kind == "learn" else "Errors", _errors(report)),
        ("series", "Measured and simulated", _series(report)),
        ("recordings", "Error in each recording", _recordings(report)),
        ("numbers", "Further numbers", "".join(_table(table) for table in report.tables)),
        ("cost", "How it was made", _making(report)),
    ]
    parts = [part for part in parts if part[2]]
    links = "".join(f'<a href="#{key}">{name}</a>' for key, name, _ in parts)
    body = "".join(f'<section id="{key}"><h2>{name}</h2>{text}</section>' for key, name, text in parts)
    return sheet(
        report.title,
        f"{_head(report)}<nav>{links}</nav>\n<main>{_warnings(report)}{body}</main>"
        f"<footer>Nutmeg {escape(report.versions.get('nutmeg', ''))}</footer>",
    )


def number(value: float | None, *, beside: float | None = None) -> str:
    """A number as people read it; beside an interval of some width, with two digits of what the width leaves open."""
    if value is None or not math.isfinite(value):
        return "–"
    if beside and 1e-5 < beside < 1e5 and abs(value) < 1e6:
        return f"{value:.{max(0, 1 - math.floor(math.log10(beside)))}f}".replace("-", "−")
    shown, _, power = f"{value:.4g}".partition("e")
    if power and 0 < int(power) <= 6:
        return f"{value:.0f}".replace("-", "−")
    return (f"{shown}·10<sup>{int(power)}</sup>" if power else shown).replace("-", "−")


def duration(seconds: float) -> str:
    """A time as people read it."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _head(report: FitReport) -> str:
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in report.summary.split("\n\n") if text.strip())
    return (
        f'<header><p class="kind">{KINDS[report.kind]}</p><h1>{escape(report.title)}</h1>{paragraphs}'
        f'<pre class="command"><code>{escape(report.command)}</code></pre>{_cards(report)}</header>'
    )


def _cards(report: FitReport) -> str:
    """The few numbers to take away."""
    unit, cost = escape(report.error_unit), report.cost
    cards = []
    for name, after, before in (
        (f"{report.error_name}, fitted", report.train_error, report.train_error_before),
        (f"{report.error_name}, never seen", report.held_out_error, report.held_out_error_before),
    ):
        if after is not None:
            small = f"from {number(before)} {unit}{_times_less(before, after)}" if before is not None else ""
            cards.append((escape(name), f"{number(after)} <small>{unit}</small>", small))
    judged = [row.identifiable for row in report.parameters if row.identifiable is not None]
    if judged:
        cards.append(("parameters determined", f"{sum(judged)} <small>of {len(judged)}</small>", "by the data"))
    if cost.real_trials is not None:
        cards.append(("trials in reality", f"{cost.real_trials}", ""))
    if cost.evaluations is not None:
        failed = f"{cost.failures} failed" if cost.failures else "none failed"
        cards.append(("simulated candidates", f"{cost.evaluations:,}".replace(",", " "), failed))
    if cost.seconds is not None:
        busy = f"{duration(cost.cpu_seconds)} of processors" if cost.cpu_seconds is not None else ""
        cards.append(("time", duration(cost.seconds), busy))
    text = "".join(f"<div><dt>{n}</dt><dd>{big}</dd><dd class=small>{small}</dd></div>" for n, big, small in cards)
    return f'<dl class="cards">{text}</dl>' if cards else ""


def _times_less(before: float, after: float) -> str:
    if not (math.isfinite(before) and before > 0 and after > 0):
        return ""
    ratio = before / after
    return f", {ratio:.3g} times less" if ratio > 1.05 else ", not better" if ratio <= 1 else ""


def _warnings(report: FitReport) -> str:
    found = found_warnings(report)
    items = "".join(f"<li>{escape(text)}</li>" for text in found)
    return f'<aside class="warnings" role="note"><h2>Before you trust it</h2><ul>{items}</ul></aside>' if found else ""


def _estimates(report: FitReport) -> str:
    rows = report.parameters
    if not rows:
        return ""
    shown = [
        ("Parameter", True),
        ("Estimate", True),
        ("Interval", any(row.interval for row in rows)),
        ("Before", any(row.old is not None for row in rows)),
        ("In reality", any(row.true is not None for row in rows)),
        ("Between its bounds", True),
        ("Determined", any(row.identifiable is not None for row in rows)),
    ]
    texts = ("Parameter", "Between its bounds", "Determined")
    head = "".join(f"<th scope=col{'' if name in texts else ' class=n'}>{name}</th>" for name, here in shown if here)
    body = "".join(_estimate(row, [name for name, here in shown if here]) for row in rows)
    known = report.identifiability
    percent = f"{100 * known.thresholds.confidence:g} % intervals. " if known else ""
    caption = (
        f"<p class=about>{percent}The track runs from the lower to the upper bound: the dot is the estimate, the "
        "band its interval, the thin mark the value before"
        + (", the cross the value in reality" if any(row.true is not None for row in rows) else "")
        + ".</p>"
    )
    table = f"<table class=cardy><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class=scroll>{table}</div>{caption}"


def _estimate(row: ParameterRow, columns: Sequence[str]) -> str:
    unit = f" <small>{escape(row.unit)}</small>" if row.unit else ""
    width = row.interval[1] - row.interval[0] if row.interval else None
    about = " · ".join(escape(text) for text in (row.about, ", ".join(row.sets)) if text)
    interval = (
        f"{number(row.interval[0], beside=width)} … {number(row.interval[1], beside=width)}" if row.interval else "–"
    )
    verdict = "–"
    if row.identifiable is not None:
        word, kind = ("yes", "yes") if row.identifiable else ("no", "no")
        verdict = f'<b class="{kind}">{word}</b><span class=about>{escape(row.reason)}</span>'
    cells = {
        "Parameter": f"<b>{escape(row.name)}</b>" + (f"<span class=about>{about}</span>" if about else ""),
        "Estimate": f"<b>{number(row.value, beside=width)}</b>{unit}",
        "Interval": interval,
        "Before": number(row.old),
        "In reality": number(row.true),
        "Between its bounds": f"{_track(row)}<span class=ends><i>{number(row.low)}</i><i>{number(row.high)}</i></span>",
        "Determined": verdict,
    }
    numeric = {"Estimate", "Interval", "Before", "In reality"}
    return (
        "<tr>"
        + "".join(
            f'<td data-name="{name}"{" class=n" if name in numeric else ""}><div>{cells[name]}</div></td>'
            for name in columns
        )
        + "</tr>"
    )


def _track(row: ParameterRow) -> str:
    """The range with the interval, the estimate, and the values before and in reality."""

    def at(value: float) -> str:
        return f"{100 * min(max(share_of_range(row, value), 0.0), 1.0):.2f}%"

    band = ""
    if row.interval:
        low, high = (share_of_range(row, end) for end in row.interval)
        band = f'<i class=band style="left:{100 * low:.2f}%;width:{100 * max(high - low, 0):.2f}%"></i>'
    marks = "".join(
        f'<i class={kind} style="left:{at(value)}"></i>'
        for kind, value in (("old", row.old), ("true", row.true), ("dot", row.value))
        if value is not None
    )
    return f'<div class="track{" vague" if row.identifiable is False else ""}">{band}{marks}</div>'


def _trade_offs(report: FitReport) -> str:
    known = report.identifiability
    if known is None or (known.correlation is None and not known.directions):
        return ""
    limit = known.thresholds.trade_off
    pairs = "".join(
        f"<li><b>{escape(p.first)}</b> and <b>{escape(p.second)}</b>: "
        f"{'raising one is made up for by raising' if p.correlation > 0 else 'raising one is made up for by lowering'} "
        f"the other (correlation {f'{p.correlation:.3f}'.replace('-', '−')}).</li>"
        for p in known.trade_offs
    )
    text = f"<ul>{pairs}</ul>" if pairs else f"<p>No two estimates correlate by more than {limit:g}.</p>"
    picture = ""
    if known.correlation is not None and known.space.size > 1:
        side = 2.0 + 0.36 * known.space.size
        alt = "Correlation of the estimates. " + (
            "; ".join(f"{p.first} and {p.second} {p.correlation:.2f}" for p in known.trade_offs) or "No strong pairs."
        )
        drawn = plots.svg(
            lambda figure: plots.draw_correlation(figure.add_subplot(), known), (side, side), alt=alt, panel=False
        )
        caption = "How estimates would move together if the noise were another: green alike, orange against each other."
        picture = f'<figure class="square">{drawn}<figcaption>{caption}</figcaption></figure>'
    return f'<div class="beside">{picture}<div>{text}{_directions(report)}{_refits(report)}</div></div>'


def _directions(report: FitReport) -> str:
    """Combinations from sloppy to stiff."""
    known = report.identifiability
    if known is None or not known.directions:
        return ""
    shown = known.directions if len(known.directions) <= 6 else (*known.directions[:3], *known.directions[-3:])
    rows = "".join(
        f"<tr><td>{_combination(d.weights)}</td><td class=n>{f'{100 * min(d.spread, 1.0):.3g}'} %</td></tr>"
        for d in shown
    )
    left_out = f" Only the three at each end of {len(known.directions)}." if len(shown) < len(known.directions) else ""
    return (
        "<h3>Combinations, from sloppy to stiff</h3><div class=scroll><table><thead><tr><th scope=col>combination</th>"
        f"<th scope=col class=n>standard error</th></tr></thead><tbody>{rows}</tbody></table></div>"
        f"<p class=about>Along each of these the error is curved independently of the others; standard errors are "
        f"shares of the ranges.{left_out}</p>"
    )


def _combination(weights: dict[str, float]) -> str:
    strongest = sorted(weights.items(), key=lambda item: -abs(item[1]))
    parts = [(name, w) for name, w in strongest if abs(w) >= 0.2][:4]
    signed = [f"{'−' if w < 0 else '+'} {abs(w):.2f} {escape(name)}" for name, w in parts]
    return " ".join(signed).removeprefix("+ ") + (
        " …" if len(parts) < sum(abs(w) >= 0.1 for w in weights.values()) else ""
    )


def _refits(report: FitReport) -> str:
    refits = report.identifiability.refits if report.identifiability else None
    if refits is None or len(refits.good) < 2:
        return ""
    names = report.identifiability.space.names if report.identifiability else ()
    worst = int(np.argmax(refits.spread))
    return (
        f"<p>{sum(refits.good)} of {len(refits.good)} fits from different seeds ended about as well as the best; their "
        f"estimates differ most in {escape(names[worst])}, by {100 * refits.spread[worst]:.3g} % of its range.</p>"
    )


def _figures(drawn: Iterable[str], *, wide: bool = False) -> str:
    kind = "figures wide" if wide else "figures"
    return f'<div class="{kind}">' + "".join(f"<figure>{one}</figure>" for one in drawn) + "</div>"


def _convergence(report: FitReport) -> str:
    if not report.convergences or not report.parameters:
        return ""
    first = plots.checked_convergences(report)[0]
    drawn = []
    for index, row in enumerate(report.parameters):
        alt = (
            f"{row.name} over {len(first.values)} evaluations, between {row.low:g} and {row.high:g} {row.unit}; "
            f"it ends at {row.value:.4g}."
        )
        drawn.append(plots.svg(plots.alone(partial(plots.draw_convergence, report=report, index=index)), alt=alt))
    words = [
        "<b class=key-ink>●</b> candidates, the stronger the smaller their error",
        "<b class=key-green>━</b> the best",
    ]
    if any(row.interval for row in report.parameters):
        words.append("<b class=key-green>▒</b> its interval")
    if len(report.convergences) > 1:
        words.append("<b class=key-blue>━</b> other searches")
    if any(row.old is not None for row in report.parameters):
        words.append("<b class=key-orange>┈</b> before")
    if any(row.true is not None for row in report.parameters):
        words.append("<b class=key-red>╌</b> in reality")
    if len(first.starts) > 1:
        words.append("│ a new iteration: the best is sought anew")
    return f"<p class=keys>{_keys(words)}</p>{_figures(drawn)}"


def _keys(words: Iterable[str]) -> str:
    return " ".join(f"<span>{word}</span>" for word in words)


def _errors(report: FitReport) -> str:
    drawn = []
    if report.convergences:
        best = report.convergences[0].best_so_far()[1]
        alt = f"{report.minimised} over evaluations; the best ends at {best[-1]:.4g}."
        drawn.append(plots.svg(plots.alone(partial(plots.draw_errors, report=report)), alt=alt))
    about = ""
    for chart in report.charts:
        alt = f"{chart.title}. {chart.about}".strip()
        drawn.append(plots.svg(plots.alone(partial(plots.draw_chart, chart=chart)), alt=alt))
        about += f"<p class=about><b>{escape(chart.title)}:</b> {escape(chart.about)}</p>" if chart.about else ""
    return _figures(drawn) + about if drawn else ""


def _series(report: FitReport) -> str:
    names = list(dict.fromkeys(one.recording for one in report.series))
    if not names:
        return ""
    most = max(1, MOST_SERIES // len(names))
    drawn_names, missing = names[:MOST_SERIES], names[MOST_SERIES:]
    words = ["<b class=key-ink>━</b> measured"]
    for field, word in (("after", "green>━</b> simulated after"), ("before", "orange>━</b> simulated before")):
        if any(getattr(one, field) is not None for one in report.series):
            words.append(f"<b class=key-{word}")
    if any(one.commanded is not None for one in report.series):
        words.append("<b class=key-grey>┈</b> commanded")
    text = f"<p class=keys>{_keys(words)}</p>"
    opened: set[bool] = set()
    for name in drawn_names:
        channels = [one for one in report.series if one.recording == name]
        text += _one_recording(name, channels, most, opened=channels[0].held_out not in opened)
        opened.add(channels[0].held_out)  # one that was fitted, and one that was not, are there to see
    if missing:
        text += f"<p class=about>Not drawn, to keep the page small: {escape(', '.join(missing))}.</p>"
    return text


def _one_recording(name: str, channels: list[Series], most: int, *, opened: bool) -> str:
    shown = sorted(channels, key=lambda one: -_mean_error(one, one.after))[:most]
    shown = [one for one in channels if one in shown] if len(channels) > most else channels
    drawn = []
    for one in shown:
        before, after = _mean_error(one, one.before), _mean_error(one, one.after)
        numbers = " → ".join(f"{error:.3g}" for error in (before, after) if error >= 0)
        alt = f"{one.channel} in {one.recording}, measured and simulated; mean absolute error {numbers} {one.unit}."
        size = plots.PANEL if len(one.times) <= plots.DETAIL_FROM else (plots.PANEL[0], 4.3)
        picture = plots.svg(partial(plots.draw_series_with_detail, one=one), size, alt=alt)
        caption = f"mean absolute error {numbers} {escape(one.unit)}" if numbers else ""
        drawn.append(f"{picture}<figcaption>{caption}</figcaption>")
    badge = ' <b class="badge">never seen by the fit</b>' if channels[0].held_out else ""
    left = len(channels) - len(shown)
    note = (
        f"<p class=about>The {len(shown)} channels with the largest errors; {left} more are not drawn.</p>"
        if left
        else ""
    )
    return (
        f"<details{' open' if opened else ''}><summary>{escape(name)}{badge}</summary>{_figures(drawn)}{note}</details>"
    )


def _mean_error(one: Series, simulated: np.ndarray | None) -> float:
    """The mean absolute error; -1 without a simulation."""
    if simulated is None:
        return -1.0
    difference = np.abs(np.asarray(simulated) - one.measured)
    difference = difference[np.isfinite(difference)]
    return float(difference.mean()) if difference.size else -1.0


def _recordings(report: FitReport) -> str:
    rows = report.recordings
    if not rows:
        return ""
    finite = [v for row in rows for v in (row.before, row.after) if v is not None and math.isfinite(v)]
    most = max(finite, default=0.0) or 1.0
    groups = [(False, "fitted"), (True, "never seen by the fit")]
    body = "".join(
        f"<tr class=group><th colspan=4 scope=rowgroup>{title}</th></tr>"
        + "".join(_recording(row, most) for row in rows if row.held_out == held_out)
        for held_out, title in groups
        if any(row.held_out == held_out for row in rows)
    )
    unit = f" [{escape(report.error_unit)}]" if report.error_unit else ""
    head = "<th scope=col>recording</th><th scope=col class=n>before</th><th scope=col class=n>after</th>"
    head += f"<th scope=col>{escape(report.error_name)}{unit}</th>"
    return f"<div class=scroll><table class=bars><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _recording(row: RecordingRow, most: float) -> str:
    bars = "".join(
        f'<i class="{kind}" style="width:{100 * min(max(value / most, 0), 1):.1f}%"></i>'
        for kind, value in (("was", row.before), ("is", row.after))
        if value is not None and math.isfinite(value)
    )
    note = f"<span class=about>{escape(row.note)}</span>" if row.note else ""
    numbers = f"<td class=n>{number(row.before)}</td><td class=n><b>{number(row.after)}</b></td>"
    return f"<tr><td>{escape(row.name)}{note}</td>{numbers}<td class=bar>{bars}</td></tr>"


def _video(report: FitReport) -> str:
    if not report.video:
        return ""
    name = escape(report.video, quote=True)
    return f'<video controls loop muted playsinline src="{name}"></video><p class=about>The file {name}.</p>'


def _table(table: Table) -> str:
    numeric = [all(isinstance(row[i], int | float | None) for row in table.rows) for i in range(len(table.columns))]
    head = "".join(
        f"<th scope=col{' class=n' if right else ''}>{escape(name)}</th>"
        for name, right in zip(table.columns, numeric, strict=True)
    )

    def cell(value: str | float | None) -> str:
        if value is None or isinstance(value, str):
            return f"<td>{escape(value or '–')}</td>"
        return f"<td class=n>{value if isinstance(value, int) else number(value)}</td>"

    body = "".join(f"<tr>{''.join(cell(value) for value in row)}</tr>" for row in table.rows)
    about = f"<p class=about>{escape(table.about)}</p>" if table.about else ""
    return (
        f"<h3>{escape(table.title)}</h3><div class=scroll><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f"</table></div>{about}"
    )


def _making(report: FitReport) -> str:
    cost = report.cost
    facts = dict(report.facts)
    if cost.real_trials is not None:
        facts["trials in reality"] = str(cost.real_trials)
    if cost.evaluations is not None:
        facts["candidates simulated"] = f"{cost.evaluations}, of which {cost.failures} failed"
    if report.identifiability and report.identifiability.curvature:
        facts["more for identifiability"] = f"{report.identifiability.curvature.evaluations} candidates"
    if cost.seconds is not None:
        facts["time"] = duration(cost.seconds)
    if cost.cpu_seconds is not None:
        facts["time of processors"] = duration(cost.cpu_seconds)
    if cost.workers:
        facts["ran on"] = cost.workers
    if cost.resumed:
        facts["interrupted and resumed"] = f"{cost.resumed} times" if cost.resumed > 1 else "once"
    if report.seeds:
        facts["seed" if len(report.seeds) == 1 else "seeds"] = ", ".join(str(seed) for seed in report.seeds)
    facts["versions"] = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    rows = "".join(f"<tr><th scope=row>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts.items())
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    return f"<table class=facts><tbody>{rows}</tbody></table>" + (f"<ul class=about>{notes}</ul>" if notes else "")
