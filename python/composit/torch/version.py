"""torch.version, and the class of torch.__version__."""

from __future__ import annotations

import re
from typing import Any


class TorchVersion(str):
    """A version as text that is compared by its numbers with texts and with tuples: 2.13 comes
    after "2.4" and after (2, 4)."""

    def _numbers(self, other: Any) -> tuple[list[int], list[int]]:
        text = ".".join(str(part) for part in other) if isinstance(other, tuple) else str(other)
        pair = [[int(n) for n in re.findall(r"\d+", re.split(r"[+a-zA-Z]", v.lstrip("v"))[0])]
                for v in (str(self), text)]  # fmt: skip
        length = max(len(pair[0]), len(pair[1]))
        first, second = ([*numbers, *[0] * (length - len(numbers))] for numbers in pair)
        return first, second

    def __lt__(self, other: Any) -> bool:
        first, second = self._numbers(other)
        return first < second

    def __le__(self, other: Any) -> bool:
        first, second = self._numbers(other)
        return first <= second

    def __gt__(self, other: Any) -> bool:
        first, second = self._numbers(other)
        return first > second

    def __ge__(self, other: Any) -> bool:
        first, second = self._numbers(other)
        return first >= second

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple):
            return str.__eq__(self, other)
        first, second = self._numbers(other)
        return first == second

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


cuda = None
hip = None
xpu = None
debug = False
git_version = "composit"
__version__ = TorchVersion("2.13.0+composit")
