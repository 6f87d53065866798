"""Reports of fits: what is in them, that nothing is fetched from elsewhere, and how they look in a browser."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nutmeg.base.arrays import Floats
from nutmeg.base.errors import UsageError
from nutmeg.reality.identify.curvature import curvature
from nutmeg.reality.identify.identifiability import assess_identifiability, from_refits
from nutmeg.search import CmaEs, CmaEsSettings, Dimension, InThisThread, Space, minimise
from nutmeg.view.reports.fit import (
    Cost,
    FitReport,
    RecordingRow,
    fit_page,
    found_warnings,
    parameter_rows,
    save_figures,
    write_report,
)
from nutmeg.view.reports.fit_plots import Convergence, ParameterRow, Series
from nutmeg.view.reports.plots import Chart, Curve, thinned
from nutmeg.view.reports.report import Table, duration, number, page

NASTY = "<script>alert('&')</script> $x^2$ _字"
TIMES = np.linspace(0, 4, 200)


def oscillation(c: Floats) -> Floats:
    """Damped oscillations, (n, 200); of c[:, 2] and c[:, 3] only the sum counts."""
    height = c[:, 2:3] + c[:, 3:4]
    return height * np.exp(-c[:, 1:2] * TIMES) * np.cos(c[:, :1] * TIMES)


@pytest.fixture(scope="module")
def fitted() -> FitReport:
    """A real fit, small."""
    space = Space(
        {
            "frequency": Dimension(low=1, high=8, unit="rad/s", about=NASTY),
            "damping": Dimension(low=0.01, high=3, scale="log", unit="1/s"),
            "near": Dimension(low=0, high=1, unit="m"),
            "far": Dimension(low=0, high=1, unit="m"),
        }
    )
    truth = np.array([[3.0, 0.4, 0.6, 0.5]])
    real = oscillation(truth)[0] + 0.02 * np.random.default_rng(1).normal(size=TIMES.size)

    def cost(c: Floats, _: object) -> Floats:
        return np.sqrt(((oscillation(c) - real) ** 2).mean(axis=1))

    results = []
    for seed in (1, 2):
        searcher = CmaEs(space, CmaEsSettings(), np.random.default_rng(seed))
        results.append(minimise(cost, searcher, InThisThread(), budget=400, seed=seed))
    results.sort(key=lambda result: result.best.value)
    best = results[0].best.candidate
    known = assess_identifiability(
        space,
        curvature=curvature(lambda c: oscillation(c) - real, space, best),
        refits=from_refits(space, [r.best.candidate for r in results], [r.best.value for r in results]),
    )
    after, before = oscillation(best[np.newaxis])[0], oscillation(space.start[np.newaxis])[0]
    series = Series(
        recording=NASTY, channel="angle", unit="rad", times=TIMES, measured=real, before=before, after=after
    )
    return FitReport(
        title=f"Pendulum {NASTY}",
        command=f"nutmeg identify '{NASTY}.toml' --seed 1",
        summary="First paragraph.\n\nSecond paragraph.",
        parameters=parameter_rows(space, best, identifiability=known, old=space.start, true=space.named(truth[0])),
        error_name="RMS error",
        error_unit="rad",
        train_error=results[0].best.value,
        train_error_before=float(cost(space.start[np.newaxis], None)[0]),
        held_out_error=0.03,
        held_out_error_before=0.5,
        convergences=tuple(Convergence.of(result, label=f"seed {i}") for i, result in enumerate(results)),
        charts=(Chart(title=NASTY, curves=(Curve(name=NASTY, x=TIMES, y=TIMES + 1),), about=NASTY, log=True),),
        identifiability=known,
        series=(series, replace(series, recording="kept", held_out=True, commanded=real)),
        recordings=(
            RecordingRow(name=NASTY, before=0.5, after=0.02, note=NASTY),
            RecordingRow(name="kept", after=0.03, held_out=True),
        ),
        tables=(
            Table(title=NASTY, columns=("what", "paper", "ours"), rows=((NASTY, 2.5, 2.25), ("trials", 180, None))),
        ),
        cost=Cost(real_trials=2, evaluations=800, failures=3, seconds=125.0, cpu_seconds=7.5, workers=NASTY),
        seeds=(1, 2),
        facts={NASTY: NASTY},
        warnings=(NASTY,),
        notes=(NASTY,),
    )


@pytest.fixture(scope="module")
def text(fitted: FitReport) -> str:
    """Its page."""
    return page(fit_page(fitted))


class Tags(HTMLParser):
    """Counts tags and finds those that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.count: dict[str, int] = {}
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        self.ids += [value for name, value in attrs if name == "id" and value and tag != "clippath"]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    assert not tags.open
    return tags


def test_a_page_needs_nothing_from_elsewhere_and_is_well_formed(text: str) -> None:
    tags = parsed(text)
    assert tags.count["script"] == 1, "our own"
    assert "link" not in tags.count
    assert not re.search(r'(src|href)="(?!#)', text), "links only lead to places on the page"
    assert "url(http" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), "but for the name of a kind of document"
    assert len(text) < 1_500_000
    sections = [name for name in tags.ids if not re.fullmatch(r"[a-z][0-9a-f]{10}", name)]
    assert len(sections) == len(set(sections)), "an id names one place"
    assert text.count('role="img"') == tags.count["svg"] == 4 + 1 + 1 + 1 + 2 + 2


def test_all_texts_of_users_are_escaped(text: str) -> None:
    assert "alert(&#39;&amp;&#39;)" in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text
    assert "$x^2$" in text, "no formula is made of it"


def test_the_page_has_every_number(fitted: FitReport, text: str) -> None:
    assert "Second paragraph." in text
    for row in fitted.parameters:
        assert row.interval is not None
        width = row.interval[1] - row.interval[0]
        assert number(row.value, width=width) in text
        assert number(row.interval[0], width=width) in text
    assert 'class="yes"' in text
    assert 'class="no"' in text
    assert "trades off against far" in text
    assert "2 min 5 s" in text
    assert "never seen by the fit" in text
    assert "In recordings that the fit never saw, the RMS error fell from 0.5 to 0.03 rad" in text
    assert f"nutmeg {fitted.versions['nutmeg']}" in text
    assert text.count("prefers-color-scheme: dark") == 1
    assert "var(--ink)" in text
    assert "#24302a" not in text.split("</style>")[1], "pictures take the colours of the page"


def test_a_report_of_almost_nothing_is_still_a_page(tmp_path: Path) -> None:
    report = FitReport(title="Bare", command="nutmeg btr x.toml", kind="btr")
    text = page(fit_page(report))
    assert parsed(text).count["section"] == 1
    assert "Back-to-Reality" in text
    assert save_figures(tmp_path / "none", report) == ()
    one = replace(report, parameters=(ParameterRow(name="a", value=1.0, low=0.0, high=2.0),))
    assert "Determined" not in page(fit_page(one))


def test_warnings_name_what_must_not_be_trusted(fitted: FitReport) -> None:
    rows = (
        ParameterRow(name="mass", value=2.0, low=1.0, high=2.0, unit="kg"),
        ParameterRow(name="play", value=1e-4, low=1e-4, high=1.0, scale="log", identifiable=False),
        ParameterRow(name="fine", value=0.5, low=0.0, high=1.0, identifiable=True),
    )
    found = found_warnings(replace(fitted, parameters=rows, convergences=(), warnings=("disengaged in iteration 4",)))
    assert found[0] == "disengaged in iteration 4"
    assert found[1].startswith("mass ended at its upper bound, 2 kg")
    assert found[2].startswith("play ended at its lower bound, 0.0001")
    assert "do not determine play:" in found[3]
    assert found[4].startswith("3 of 800 (0.4 %) candidates failed")
    assert len(found) == 5


def test_the_best_so_far_is_sought_anew_in_every_iteration() -> None:
    values = np.array([3.0, np.nan, 1.0, 2.0, 5.0, 4.0, 6.0])
    search = Convergence(candidates=np.arange(7.0)[:, np.newaxis], values=values, starts=(0, 4))
    rows, errors = search.best_so_far()
    assert errors.tolist() == [3, 3, 1, 1, 5, 4, 4]
    assert rows[:, 0].tolist() == [0, 0, 2, 2, 4, 5, 5]
    with pytest.raises(UsageError, match="begin with 0"):
        replace(search, starts=(2, 4))
    with pytest.raises(UsageError, match="needed are"):
        replace(search, values=values[:3])


def test_searches_of_several_iterations_are_shown_one_after_the_other() -> None:
    space = Space({"x": Dimension(low=0, high=1)})
    results = [
        minimise(
            lambda c, _: (c[:, 0] - 0.3) ** 2,
            CmaEs(space, CmaEsSettings(), np.random.default_rng(seed)),
            InThisThread(),
            budget=30,
        )
        for seed in (1, 2)
    ]
    shown = Convergence.of(*results)
    assert shown.starts == (0, results[0].evaluations)
    assert len(shown.values) == sum(result.evaluations for result in results)


def test_thinned_series_keep_their_peaks_and_their_gaps() -> None:
    times = np.arange(40000.0)
    values = np.sin(times / 500)
    values[12345], values[30000:31000] = 9.0, np.nan
    x, y = thinned(times, values)
    assert len(x) < 800
    assert np.nanmax(y) == 9.0
    assert x[np.nanargmax(y)] == 12345
    assert np.isnan(y).any()
    assert (np.diff(x) >= 0).all()
    short = thinned(times[:500], values[:500])
    assert len(short[0]) == 500


@pytest.mark.slow
def test_a_report_of_a_large_fit_stays_below_three_megabytes_and_says_what_it_left_out() -> None:
    rng = np.random.default_rng(3)
    times = np.arange(4024) * 0.055
    moves = np.cumsum(rng.normal(size=(22, 4024)), axis=1) / 50
    series = tuple(
        Series(recording=f"walk{r}", channel=f"joint{j}", unit="rad", times=times, measured=m, before=m + 0.1, after=m)
        for r in range(2)
        for j, m in enumerate(moves)
    )
    rows = tuple(ParameterRow(name=f"mass{i}", value=1.0, low=0.5, high=1.5, unit="kg") for i in range(8))
    search = Convergence(candidates=rng.uniform(0.5, 1.5, (30000, 8)), values=rng.uniform(1, 9, 30000))
    report = FitReport(title="Large", command="x", parameters=rows, convergences=(search,), series=series)
    text = page(fit_page(report))
    assert len(text.encode()) < 3_000_000
    assert text.count("<svg") == 8 + 1 + 1 + 36
    assert text.count("4 more are not drawn") == 2


def test_a_convergence_of_other_parameters_is_refused(fitted: FitReport) -> None:
    with pytest.raises(UsageError, match="4 parameters, but the report 2"):
        replace(fitted, parameters=fitted.parameters[:2])


def test_figures_are_pictures_with_something_on_them(fitted: FitReport, tmp_path: Path) -> None:
    paths = save_figures(tmp_path / "new" / "figures", fitted)
    names = ["parameters", "error", "convergence", "correlation", "chart_1", "series_1", "series_2"]
    assert [path.stem for path in paths] == names
    for path in paths:
        picture = np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("L"), float)
        assert picture.shape[1] > 400
        assert (picture < 200).mean() > 0.003, path.stem


def test_a_written_report_is_its_page(tmp_path: Path) -> None:
    bare = FitReport(title="Bare", command="nutmeg btr x.toml")
    write_report(tmp_path / "report.html", bare)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page(fit_page(bare))


def test_numbers_are_written_as_people_read_them() -> None:
    assert number(1.23456) == "1.235"
    assert number(-0.5) == "−0.5"
    assert number(0.0) == "0"
    assert number(123456.0) == "123456"
    assert number(1.5e-7) == "1.5·10⁻⁷"
    assert number(None) == number(float("nan")) == "–"
    assert number(33.0801, width=0.24) == "33.08"
    assert number(33.2, width=0.24) == "33.20"
    assert number(0.0, width=30.0) == "0"
    assert duration(0.5) == "0.5 s"
    assert duration(3725) == "1 h 2 min"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_reads_well_on_a_phone_and_on_a_desk(
    scheme: Any, text: str, tmp_path: Path, browser_page: Any
) -> None:
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    asked: list[str] = []
    browser_page.on("request", lambda request: asked.append(request.url))
    browser_page.emulate_media(color_scheme=scheme)
    browser_page.goto(file.as_uri())
    browser_page.set_viewport_size({"width": 1200, "height": 800})
    assert browser_page.evaluate("document.documentElement.scrollHeight") < 2500, "what only explains is folded"
    browser_page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert browser_page.locator(".folded > details[open]").count() == browser_page.locator(".folded").count() == 6
    for width in (360, 1200):
        browser_page.set_viewport_size({"width": width, "height": 800})
        assert browser_page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
        narrow = browser_page.evaluate("Math.min(...[...document.querySelectorAll('#series svg, #errors svg')]"
                                       ".map(one => one.getBoundingClientRect().width))")  # fmt: skip
        assert narrow > 280, "pictures are wide enough to be read"
    small = "[...document.querySelectorAll('#convergence svg text')].map(t => t.getBoundingClientRect().height)"
    assert min(browser_page.evaluate(small)) > 8
    assert browser_page.locator("section").count() == 8
    assert "Pendulum <script>" in browser_page.inner_text("h1")
    ink = browser_page.evaluate("getComputedStyle(document.querySelector('#convergence svg text')).fill")
    paper = browser_page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert abs(brightness(ink) - brightness(paper)) > 120
    assert (brightness(paper) > 128) == (scheme == "light")
    assert asked == [file.as_uri()]
    assert not browser_page.complaints


@pytest.mark.slow
@pytest.mark.browser
def test_values_show_under_the_pointer_curves_can_be_hidden_pictures_zoomed_and_tables_sorted(
    text: str, tmp_path: Path, browser_page: Any
) -> None:
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    browser_page.set_viewport_size({"width": 1200, "height": 800})
    browser_page.goto(file.as_uri())
    browser_page.locator("nav a[href='#errors']").click()  # opens the folded section
    picture = browser_page.locator("#errors svg[data-axes]").first
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    browser_page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    told = browser_page.locator(".tip").inner_text()
    assert re.search(r"^[^:]+: [\d.]+\n.+: [\d.]+", told), told

    label = picture.locator(".toggle").first
    curve = picture.locator('[data-part^="curve-0-0-"]').first
    label.click()
    assert curve.evaluate("one => one.style.display") == "none"
    label.click()
    assert curve.evaluate("one => one.style.display") == ""

    whole = picture.get_attribute("viewBox")
    browser_page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 0.4 * box["height"])
    browser_page.mouse.down()
    browser_page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.7 * box["height"])
    browser_page.mouse.up()
    assert picture.get_attribute("viewBox") != whole
    picture.dblclick()
    assert picture.get_attribute("viewBox") == whole

    table = browser_page.locator("table:has(th.sorts)").first
    head = table.locator("th.sorts").first
    names = "table => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.trim())"
    head.click()
    up = table.evaluate(names)
    head.click()
    assert table.evaluate(names) == up[::-1]
    assert sorted(up) != up[::-1]
    assert not browser_page.complaints


def brightness(colour: str) -> float:
    """Of `rgb(1, 2, 3)`, 0 to 255."""
    return float(np.mean([float(part) for part in re.findall(r"[\d.]+", colour)[:3]]))


def test_the_worst_recording_is_told_by_errors_of_one_unit(fitted: FitReport) -> None:
    angle, _ = fitted.series
    gyro = replace(angle, channel="gyro", unit="deg/s", measured=angle.measured * 100, after=angle.after * 90)
    report = replace(fitted, series=(gyro, angle), error_unit="rad")
    shown = page(fit_page(report))
    assert "angle in " in shown[: shown.index("gyro in ")], "the picture at the top is that of the angle"
