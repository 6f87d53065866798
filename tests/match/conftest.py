"""The two rule books."""

from __future__ import annotations

import pytest

from nutmeg.match.rules.book import Rules, load_rules


@pytest.fixture(scope="session")
def rules() -> Rules:
    return load_rules("sim3d")


@pytest.fixture(scope="session")
def spl() -> Rules:
    return load_rules("spl2011")
