"""Variants of a model compared on what they were not fitted to, and fits of recordings with spikes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nutmeg.base.errors import NutmegError, UsageError
from nutmeg.cli import main
from nutmeg.reality.identify.selection import compare_variants, variant_settings
from nutmeg.reality.identify.settings import read_identify
from nutmeg.reality.logs.replay import found_files
from nutmeg.reality.twin import Twin
from nutmeg.search.evaluation import InThisThread

VARIANTS = """
[variants.dry]
search = ["coulomb"]
[variants.both]
search = ["*"]
"""


@pytest.fixture
def config(bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    found: Path = bench.logs(tmp_path)
    return found


def with_variants(config: Path, more: str = VARIANTS) -> Path:
    config.write_text(config.read_text(encoding="utf-8") + more, encoding="utf-8")
    return config


def test_what_a_variant_does_not_search_stays_at_its_start(config: Path) -> None:
    dry = variant_settings(read_identify(with_variants(config)), "dry")
    assert list(dry.parameters) == ["coulomb"]
    twin = Twin(dry.robot, dry.parameters)
    fixed = {a.target: a.value for a in twin.settings.adjustments}
    whole = read_identify(config).parameters["viscous"]
    assert fixed == {"servo.*.viscous": whole.middle}


def test_the_variant_that_predicts_what_it_has_not_seen_is_fitted(
    config: Path, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["identify", str(with_variants(config)), "--evaluations", "60", "--json"]) == 0
    out = capsys.readouterr()
    result = json.loads(out.out.splitlines()[-1])
    first, second = result["variants"]
    assert (first["name"], second["name"]) == ("both", "dry"), "reality has both frictions"
    assert first["held_out"] < second["held_out"]
    assert first["aic"] < second["aic"]
    assert set(first["folds"]) == {"slow.csv", "fast.csv"}
    assert list(result["parameters"]) == ["coulomb", "viscous"]
    assert result["parameters"]["viscous"]["value"] == pytest.approx(bench.hidden["viscous"], rel=0.3)
    assert "both carries over best" in out.err
    again = ["identify", str(config), "--evaluations", "60", "--json", "--output", "runs/identify-1"]
    assert main(again) == 0, "it goes on"
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["variants"] == result["variants"]


def test_terms_are_freed_one_at_a_time_as_long_as_predictions_get_better(
    config: Path, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    idle = '[parameters.idle]\nlow = 0.0\nhigh = 0.02\nstart = 0.0\nsets = ["servo.*.dead_zone"]\n'
    text = config.read_text(encoding="utf-8").replace(
        "[search]", idle + '[selection]\nterms = ["viscous", "idle"]\n[search]'
    )
    config.write_text(text, encoding="utf-8")
    assert main(["identify", str(config), "--evaluations", "40", "--json"]) == 0
    out = capsys.readouterr()
    result = json.loads(out.out.splitlines()[-1])
    assert list(result["parameters"]) == ["coulomb", "viscous"], "reality has no dead zone"
    assert result["parameters"]["viscous"]["value"] == pytest.approx(bench.hidden["viscous"], rel=0.3)
    names = [one["name"] for one in result["variants"]]
    assert names[0] == "with viscous"
    assert set(names) == {"no term", "with viscous", "with idle", "with viscous, idle"}
    assert "with viscous carries over best" in out.err
    again = ["identify", str(config), "--evaluations", "40", "--json", "--output", "runs/identify-1"]
    assert main(again) == 0, "it goes on"
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["variants"] == result["variants"]


def test_mistakes_in_terms_are_named(config: Path) -> None:
    for more, said in (('terms = ["viscos"]', "Did you mean 'viscous'"), ('terms = ["*"]', "are all parameters")):
        with_variants(config, f"[selection]\n{more}\n")
        with pytest.raises(NutmegError, match=said):
            read_identify(config)
        config.write_text(config.read_text(encoding="utf-8").replace(f"[selection]\n{more}\n", ""), encoding="utf-8")


def test_mistakes_in_variants_are_named(config: Path) -> None:
    settings = read_identify(with_variants(config, '[variants.dry]\nsearch = ["colomb"]\n'))
    with pytest.raises(NutmegError, match="Did you mean 'coulomb'"):
        variant_settings(settings, "dry")
    alone = read_identify(with_variants(config, '[selection]\nby = "condition"\n').parent / "identify.toml")
    one = found_files(["slow.csv"], config.parent, "train")
    with pytest.raises(NutmegError, match="colomb"):
        compare_variants(alone, one, 0, InThisThread())


def test_one_recording_cannot_be_left_out_of_itself(config: Path) -> None:
    settings = read_identify(with_variants(config))
    with pytest.raises(UsageError, match="comparing variants needs two or more"):
        compare_variants(settings, found_files(["slow.csv"], config.parent, "train"), 0, InThisThread())


def spiked(config: Path) -> None:
    """Noise, and a spike in one of twenty samples of each log."""
    rng = np.random.default_rng(1)
    for name in ("slow", "fast"):
        path = config.parent / f"{name}.csv"
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        for row in rows[2:]:  # the first one is the start
            spike = 0.6 * rng.standard_normal() if rng.random() < 0.05 else 0.0
            row[2] = repr(float(row[2]) + 0.003 * rng.standard_normal() + spike)
        path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")


def test_outliers_are_reported_and_absolute_errors_withstand_them(
    config: Path, bench: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    spiked(config)
    found: dict[str, Any] = {}
    for kind in ("rms", "mean_absolute"):
        (config.parent / f"{kind}.toml").write_text(
            config.read_text(encoding="utf-8") + f'\n[distance]\nkind = "{kind}"\n', encoding="utf-8"
        )
        options = ["--evaluations", "100", "--json", "--output", f"runs/{kind}"]
        assert main(["identify", str(config.parent / f"{kind}.toml"), *options]) == 0
        found[kind] = json.loads(capsys.readouterr().out.splitlines()[-1])["parameters"]
        found[kind]["details"] = json.loads(Path(f"runs/{kind}/results.json").read_text(encoding="utf-8"))
    for kind in found:
        assert 0.02 < found[kind]["details"]["outliers"]["slow.csv"] < 0.08
    warned = [any("are outliers" in text for text in found[kind]["details"]["problems"]) for kind in found]
    assert warned == [True, False]
    for name, truth in bench.hidden.items():
        low, high = found["mean_absolute"][name]["interval"]
        wide = np.ptp(found["rms"][name]["interval"])
        assert abs(found["mean_absolute"][name]["value"] - truth) < high - low, "about three standard errors"
        assert high - low < 0.5 * wide, "an outlier counts no more than any other sample"
