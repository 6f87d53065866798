"""`nutmeg walk`: what is said when something is wrong with its arguments."""

from __future__ import annotations

import pytest

from nutmeg.cli import main


@pytest.mark.parametrize("what", ["drive", "measure"])
def test_a_robot_that_does_not_exist_is_called_a_robot_and_those_that_do_are_listed(
    what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["walk", what, "foo"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "unknown robot 'foo'" in said
    assert "nao-spark" in said
    assert "path of a robot's folder, TOML, MJCF or URDF file" in said
    assert "unknown walk" not in said
