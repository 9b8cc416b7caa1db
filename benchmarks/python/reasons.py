"""Why rows are below their must: what the page says under a group's table."""

from __future__ import annotations

import re

# Of "group: case", the first that matches.
REASONS: list[tuple[str, str]] = [
    (
        r"functions: .*1e2$",
        "A call that the graph can name takes 1.2 us whatever it computes: its arguments as words, "
        "a record, a cell, a Python object; `evaluate` takes 0.5 us more. NumPy's function takes "
        "less than that.",
    ),
    (
        r"functions: .*1e3$",
        "As at 100 elements; and what takes longer than a call is done in passes of 1,024 elements "
        "by kernels for any shape.",
    ),
]


def reason_of(group: str, case: str) -> str:
    for pattern, reason in REASONS:
        if re.match(pattern, f"{group}: {case}"):
            return reason
    return "Not known yet."


def reasons(group: str, cases: list[str]) -> str:
    """Lines of Markdown, a reason each, with the cases that it explains; empty for no cases."""
    by_reason: dict[str, list[str]] = {}
    for case in cases:
        by_reason.setdefault(reason_of(group, case), []).append(case)
    return "".join(f"- *{'; '.join(found)}*: {reason}\n" for reason, found in by_reason.items())
