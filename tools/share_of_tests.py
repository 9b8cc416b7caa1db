"""Prints which share of the long tail of tests a commit runs: a number from 0 to 9.

Commits in a row have numbers in a row, so that ten of them run all. Where their number is not known
(a shallow clone), the commit's hash chooses; outside a repository it is share 0.
"""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARES = 10


def git(*words: str) -> str:
    """What git says about the repository; "" if it fails or does not exist."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def share(count: str, commit: str, is_shallow: bool) -> int:
    """The share of a commit that is the `count`-th, of the hash `commit`; "": not known."""
    return number(count, commit, is_shallow) % SHARES


def number(count: str, commit: str, is_shallow: bool) -> int:
    """The place of a commit among all."""
    if count and not is_shallow:
        return int(count)
    return int(commit, 16) if commit else 0


def number_here() -> int:
    """The place of this repository's commit."""
    return number(
        git("rev-list", "--count", "HEAD"),
        git("rev-parse", "HEAD"),
        git("rev-parse", "--is-shallow-repository") == "true",
    )


def turn(turns: int) -> int:
    """How often all shares have run before, below `turns`: for what takes turns within a share."""
    return number_here() // SHARES % turns


if __name__ == "__main__":
    print(number_here() % SHARES)
