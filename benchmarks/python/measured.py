"""Rows that were measured: of a run that was interrupted, and of earlier commits.

A run writes each row as soon as it has it to build/bench/rows/, so that the same run started again
goes on behind it. A complete one, in which nothing failed, is kept in
benchmarks/history/MACHINE/COMMIT.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from measure import FOLDER, ROOT

HISTORY = ROOT / "benchmarks/history"
FALLEN = 0.9  # of a ratio at an earlier commit
LOOKED_AT = 10  # earlier commits that have a row
WRITTEN = ("docs", "benchmarks/history")  # by the run itself


def git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def tree() -> str:
    """The commit, and behind it a hash of what differs from it; but what a run writes is left out,
    so that a run has one name from its start to its end."""
    changed = git("diff", "HEAD", "--", ".", *(f":(exclude){folder}" for folder in WRITTEN))
    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return f"{commit}-{hashlib.sha256(changed.encode()).hexdigest()[:8]}" if changed else commit


def commit_date() -> str:
    """In UTC, so that texts of dates are in the order of the dates; empty outside a repository."""
    date = git("log", "-1", "--format=%cI")
    return datetime.fromisoformat(date).astimezone(UTC).isoformat() if date else ""


def machine_name(about: dict[str, str]) -> str:
    """Of a folder: the processor, its kind, cores and vectors, in letters and digits."""
    return re.sub(r"[^a-z0-9]+", "-", about["CPU"].lower()).strip("-")


def key_of(group: str, row: dict) -> str:
    return f"{group}: {row['case']}, {row['threads']}"


class Rows:
    """What was found of one tree on one machine, in the order in which it was found."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.found: list[tuple[str, dict]] = []
        self.is_torn = False  # the file does not end in a newline
        if file.exists():
            text = file.read_text()
            self.is_torn = bool(text) and not text.endswith("\n")
            for line in text.splitlines():
                try:
                    group, found = json.loads(line)
                except ValueError:  # the last line of a run that was killed
                    continue
                self.found.append((group, found))

    @classmethod
    def of_this_tree(cls, about: dict[str, str], is_short: bool) -> Rows:
        """Those of an unfinished run. Short runs and whole ones have a file each: one that ends
        says nothing about the other."""
        kind = "short" if is_short else "all"
        return cls(FOLDER / "rows" / f"{machine_name(about)}-{tree()}-{kind}.jsonl")

    def add(self, group: str, found: dict) -> None:
        self.found.append((group, found))
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            file.write("\n" * self.is_torn + json.dumps([group, found]) + "\n")
        self.is_torn = False

    def keys(self) -> set[str]:
        return {key_of(group, found) for group, found in self.found if "case" in found}

    def groups(self) -> dict[str, dict]:
        """Titles, notes, limits and rows by group; of several limits or rows the last."""
        groups: dict[str, dict] = {}
        limits: dict[str, dict[int, dict]] = {}
        rows: dict[str, dict[str, dict]] = {}
        for name, found in self.found:
            group = groups.setdefault(name, {"rows": [], "limits": []})
            if "case" in found:
                rows.setdefault(name, {})[key_of(name, found)] = found
            elif "limits" in found:
                group |= {"title": found["title"], "notes": found["notes"]}
                limits.setdefault(name, {})[found["limits"]["threads"]] = found["limits"]
        for name, group in groups.items():
            group["limits"] = [limits.get(name, {})[n] for n in sorted(limits.get(name, {}))]
            group["rows"] = sorted(rows.get(name, {}).values(), key=lambda row: row["threads"])
        return {name: group for name, group in groups.items() if "title" in group}


@dataclass
class Commit:
    """A file of the history."""

    commit: str
    date: str  # of the commit, in UTC
    rows: dict[str, dict]  # value, unit, less_is_better and microseconds, by key

    def ratios(self) -> dict[str, float]:
        """Of the rows that are ratios: the best peer's time by composit's."""
        return {
            key: row["value"]
            for key, row in self.rows.items()
            if row["unit"] == "x" and row["value"] and not row["less_is_better"]
        }


def kept(row: dict) -> dict:
    fields = {name: row[name] for name in ("value", "unit", "less_is_better")}
    us = row["composit_us"]
    return fields | {"us": us if us is None else float(f"{us:.4g}")}


def write_history(about: dict[str, str], rows: Rows) -> Path:
    """Puts the rows into the file of this commit and machine, beside those that it has."""
    folder = HISTORY / machine_name(about)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{tree()}.json"
    content = json.loads(file.read_text()) if file.exists() else {"rows": {}}
    content |= {"commit": tree(), "date": commit_date(), "machine": about}
    for group, found in rows.found:
        if "case" in found:
            content["rows"][key_of(group, found)] = kept(found)
    lines = [f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in content["rows"].items()]
    head = json.dumps({name: content[name] for name in ("commit", "date", "machine")}, indent=1)
    whole = head[:-2] + ',\n "rows": {\n' + ",\n".join(lines) + "\n }\n}\n"
    part = file.with_suffix(".part")
    part.write_text(whole)
    os.replace(part, file)
    return file


def history(about: dict[str, str]) -> list[Commit]:
    """The commits that were measured on this machine, the oldest first."""
    return sorted(commits_in(HISTORY / machine_name(about)), key=lambda commit: commit.date)


def commits_in(folder: Path) -> Iterator[Commit]:
    for file in folder.glob("*.json"):
        found = json.loads(file.read_text())
        yield Commit(found["commit"], found["date"], found["rows"])


@dataclass
class Fall:
    """A row that is slower than it was, by more than a tenth: its ratio, or what its unit says."""

    key: str
    before: float
    after: float | None  # None: it was measured, and is not built now
    commit: str  # that had `before`

    def __str__(self) -> str:
        after = "not built" if self.after is None else f"{self.after:.2f}"
        return f"{self.key}: {self.before:.2f} at {self.commit[:12]}, {after} now"


def falls(commits: list[Commit], now: Commit) -> list[Fall]:
    """The rows that are worse by more than a tenth than the best value that they had at the last
    ten earlier commits that measured them, or that have no value now. So many small losses are
    found as one large one is; a loss that was meant is named until its eleventh commit.
    """
    found = []
    earlier = [commit for commit in commits if is_earlier(commit, now)]
    for key, row in now.rows.items():
        had = [
            (commit.rows[key]["value"], commit.commit)
            for commit in reversed(earlier)
            if commit.rows.get(key, {}).get("value")
        ]
        if not had:
            continue
        choose = min if row["less_is_better"] else max
        best, commit = choose(had[:LOOKED_AT], key=lambda each: each[0])
        if has_fallen(best, row["value"], row["less_is_better"]):
            found.append(Fall(key, best, row["value"], commit))
    return found


def is_earlier(commit: Commit, now: Commit) -> bool:
    """By their dates; a commit is also earlier than what a working tree made of it."""
    return commit.date < now.date or now.commit.startswith(f"{commit.commit}-")


def has_fallen(best: float, after: float | None, less_is_better: bool) -> bool:
    if after is None:
        return True
    return best < FALLEN * after if less_is_better else after < FALLEN * best


def this_commit(rows: Rows) -> Commit:
    found = {key_of(group, row): kept(row) for group, row in rows.found if "case" in row}
    return Commit(tree(), commit_date(), found)
