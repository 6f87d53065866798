"""Questions of several searches that are answered in one batch, because those of one fill a small part of a device.

    together = Together(3, answer_all)          # three searches, each in a thread; answer_all gets a list of questions
    answer = together.ask(question)             # in each search: waits until the other two have asked as well
    together.leave()                            # the others wait for this search no longer

What a search is answered must not depend on the questions of the others.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Together(Generic[Question, Answer]):
    """Collects a question of every search and answers them at once.

    Args:
        searches: how many.
        answer_all: gives an answer to each question; it runs in the thread of the search that asks last.
    """

    def __init__(self, searches: int, answer_all: Callable[[Sequence[Question]], Sequence[Answer]]) -> None:
        self._answer_all, self._searches = answer_all, searches
        self._changed = threading.Condition()
        self._waiting: list[_Asked] = []

    def ask(self, question: Question) -> Answer:
        """The answer to a question, when every other search has asked as well, or has left."""
        asked = _Asked(question)
        with self._changed:
            self._waiting.append(asked)
            self._answer_if_complete()
            self._changed.wait_for(lambda: asked.answered)
        if asked.error is not None:
            raise asked.error
        answer: Answer = asked.answer
        return answer

    def leave(self) -> None:
        """Says that one search is over."""
        with self._changed:
            self._searches -= 1
            self._answer_if_complete()

    def _answer_if_complete(self) -> None:
        """Answers all when the last one has asked; an error goes to every search that waits."""
        if not self._waiting or len(self._waiting) < self._searches:
            return
        waiting, self._waiting = self._waiting, []
        try:
            for one, answer in zip(waiting, self._answer_all([one.question for one in waiting]), strict=True):
                one.answer = answer
        except BaseException as error:  # noqa: BLE001 (raised in every thread that waits)
            for one in waiting:
                one.error = error
        for one in waiting:
            one.answered = True
        self._changed.notify_all()


@dataclass(eq=False)
class _Asked:
    """A question that a search waits for."""

    question: Any
    answer: Any = None
    error: BaseException | None = None
    answered: bool = False
