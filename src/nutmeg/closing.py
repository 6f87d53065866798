"""What is closed at the end of a `with` block, however that ends.

    class Journal(Closing):
        def close(self) -> None: ...

    with Journal(write) as journal:
        ...

Who needs no block calls `close`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Has a `close`, and is a context manager by it."""

    @abstractmethod
    def close(self) -> None:
        """Gives back what it holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
