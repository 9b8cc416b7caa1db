"""Rows that were measured: of a run that was interrupted, and of earlier commits.

A run writes each row as soon as it has it to build/bench/rows/, so that the same run started again
goes on behind it. A complete one is kept in benchmarks/history/MACHINE/COMMIT.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure import FOLDER, ROOT

HISTORY = ROOT / "benchmarks/history"
FALLEN = 0.9  # of a ratio at an earlier commit


def git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def tree() -> str:
    """The commit, and behind it a hash of what differs from it."""
    changed = git("diff", "HEAD")
    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return f"{commit}-{hashlib.sha256(changed.encode()).hexdigest()[:8]}" if changed else commit


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
        if file.exists():
            for line in file.read_text().splitlines():
                try:
                    group, found = json.loads(line)
                except ValueError:  # the last line of a run that was killed
                    continue
                self.found.append((group, found))

    @classmethod
    def of_this_tree(cls, about: dict[str, str]) -> Rows:
        return cls(FOLDER / "rows" / f"{machine_name(about)}-{tree()}.jsonl")

    def add(self, group: str, found: dict) -> None:
        self.found.append((group, found))
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as file:
            file.write(json.dumps([group, found]) + "\n")

    def keys(self) -> set[str]:
        return {key_of(group, found) for group, found in self.found if "case" in found}

    def groups(self) -> dict[str, dict]:
        """Titles, notes, limits and rows by group; of several limits or rows the last."""
        groups: dict[str, dict] = {}
        limits: dict[str, dict[int, dict]] = {}
        rows: dict[str, dict[str, dict]] = {}
        for name, found in self.found:
            group = groups.setdefault(name, {"rows": [], "limits": [], "failures": []})
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
    date: str  # of the commit
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
    content |= {"commit": tree(), "date": git("log", "-1", "--format=%cI"), "machine": about}
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
    after: float
    commit: str  # that had `before`

    def __str__(self) -> str:
        return f"{self.key}: {self.before:.2f} at {self.commit[:12]}, {self.after:.2f} now"


def falls(commits: list[Commit], now: Commit) -> list[Fall]:
    """Each row beside the last commit before that has it."""
    found = []
    earlier = [commit for commit in commits if commit.commit != now.commit]
    for key, row in now.rows.items():
        before = next((c for c in reversed(earlier) if key in c.rows), None)
        if before is None or row["value"] is None or not before.rows[key]["value"]:
            continue
        then, after = before.rows[key]["value"], row["value"]
        share = then / after if row["less_is_better"] and after else after / then
        if share < FALLEN:
            found.append(Fall(key, then, after, before.commit))
    return found


def this_commit(rows: Rows) -> Commit:
    found = {key_of(group, row): kept(row) for group, row in rows.found if "case" in row}
    return Commit(tree(), git("log", "-1", "--format=%cI"), found)
