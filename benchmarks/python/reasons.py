"""Why rows are below their must: what the page says under a group's table.

`reasons.py` writes the reasons into docs/performance.md anew, without measuring.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/performance.md"

# Of "title of the group: case", the first that matches.
REASONS: list[tuple[str, str]] = []


def reason_of(group: str, case: str) -> str:
    for pattern, reason in REASONS:
        if re.match(pattern, f"{group}: {case}"):
            return reason
    return "Not known yet."


def reasons(group: str, cases: list[str]) -> str:
    """Lines of Markdown, a reason each, with the cases that it explains."""
    by_reason: dict[str, list[str]] = {}
    for case in cases:
        by_reason.setdefault(reason_of(group, case), []).append(case)
    return "".join(f"- *{'; '.join(found)}*: {reason}\n" for reason, found in by_reason.items())


def with_reasons(page: str) -> str:
    """The page with the reasons of its bold rows, in place of those that it has."""
    head, *groups = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    made = [head.rstrip("\n") + "\n"]
    for group in groups:
        title = group.splitlines()[0].removeprefix("## ")
        table = group.partition("\nWhy rows are below")[0].rstrip("\n") + "\n"
        cases = dict.fromkeys(re.findall(r"^\| \*\*(.*?)\*\* \|", table, flags=re.MULTILINE))
        if cases:
            table += f"\nWhy rows are below their must:\n\n{reasons(title, list(cases))}"
        made.append(table)
    return "\n".join(made)


if __name__ == "__main__":
    PAGE.write_text(with_reasons(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
