"""Questions of several searches that are answered at once."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from nutmeg.search.together import Together


def test_questions_of_all_searches_are_answered_at_once_until_they_leave() -> None:
    batches: list[list[int]] = []

    def double(questions: Sequence[int]) -> list[int]:
        batches.append(sorted(questions))
        return [2 * one for one in questions]

    together = Together(3, double)

    def search(number: int) -> list[int]:
        answers = [together.ask(10 * number + turn) for turn in range(number + 1)]  # they end one after the other
        together.leave()
        return answers

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(search, range(3)))
    assert answers == [[0], [20, 22], [40, 42, 44]]
    assert batches == [[0, 10, 20], [11, 21], [22]]
    assert together.ask(1) == 2, "who asks when all have left is answered at once"


def test_an_error_reaches_all_that_wait() -> None:
    def fail(_: Sequence[int]) -> list[int]:
        raise ValueError("the device is on fire")

    together = Together(2, fail)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(together.ask, number) for number in range(2)]
    for one in waiting:
        with pytest.raises(ValueError, match="on fire"):
            one.result()
