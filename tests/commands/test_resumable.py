"""Commands that can be gone on with: the command line that does it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import tyro

from nutmeg.commands import btr, identify, learn
from nutmeg.commands.resumable import command_line


def test_what_is_as_usual_is_left_out() -> None:
    assert command_line("learn", learn.Arguments()) == ["nutmeg", "learn"]
    assert command_line("btr", btr.Arguments(config=Path("ant.toml"))) == ["nutmeg", "btr", "ant.toml"]


def test_a_command_line_means_the_arguments_that_it_was_made_of() -> None:
    many = learn.Arguments(config=Path("own walk.toml"), seed=0, step=0.1, trials=3, video=False, output=Path("r"))
    files = identify.Arguments(
        config=Path("c.toml"), train=("a*", "b*"), held_out=("c",), cluster="tcp://h:1", json=True
    )
    for name, arguments in (("learn", many), ("identify", files), ("learn", dataclasses.replace(many, json=True))):
        words = command_line(name, arguments)
        assert words[:2] == ["nutmeg", name]
        assert tyro.cli(type(arguments), args=words[2:]) == arguments
