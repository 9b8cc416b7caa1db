"""`run.py` measures the rows of selection.py, `run.py --all` all of them, and goes on where a run
of the same tree was interrupted or failed; `run.py WORD` measures rows with WORD in their names.

A run in which nothing failed enters its rows into benchmarks/history, names the rows that fell
behind earlier commits on the same machine, and writes the page: `--all` docs/performance.md with
its pictures, else build/bench/performance.md. Another one names what failed, and writes nothing but
its rows, from which the next run of its kind goes on. Those of a WORD go to
build/bench/part/GROUP.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from group import run
from machine import machine
from measure import FOLDER, ROOT
from measured import Rows, falls, history, this_commit, write_history
from page import page, printed
from plots import draw_history, draw_ratios

PAGE = ROOT / "docs/performance.md"
PROGRAMS = sorted(Path(__file__).parent.glob("bench_*.py"))


def group_of(program: Path) -> str:
    return program.stem.removeprefix("bench_")


def measure_part(word: str) -> bool:
    """Whether there was a row to measure, and all could be."""
    about, is_whole, is_found = machine(), True, False
    folder = FOLDER / "part"
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        rows = Rows(folder / f"{group_of(program)}.jsonl")
        rows.file.unlink(missing_ok=True)
        rows.found.clear()
        is_whole &= not measure_group(program, word, rows, is_short=False)
        is_found |= bool(rows.found)
        for name, group in rows.groups().items():
            (folder / f"{name}.json").write_text(
                json.dumps({"machine": about, **group}, indent=1) + "\n"
            )
        rows.file.unlink(missing_ok=True)
    if is_whole and not is_found:
        print(f"No row has {word!r} in its name or its group's; nothing was measured.")
    return is_whole and is_found


def measure_group(program: Path, word: str, rows: Rows, is_short: bool) -> list[str]:
    """What failed."""
    failures = []
    for found in run(program, word, rows.keys(), is_short):
        print(printed(found), end="", flush=True)
        if "failed" in found:
            failures.append(found["failed"])
        else:
            rows.add(group_of(program), found)
    return failures


def measure_all(is_short: bool) -> bool:
    """Whether nothing failed."""
    about = machine()
    rows = Rows.of_this_tree(about, is_short)
    if rows.found:
        print(f"{len(rows.keys())} rows of this tree were measured before.")
    failures = [
        failed for program in PROGRAMS for failed in measure_group(program, "", rows, is_short)
    ]
    if failures:
        print(f"\n!!! {len(failures)} FAILED; the same run again measures these only:")
        for failed in failures:
            print(f"!!! {failed}")
        return False
    groups = rows.groups()
    now, before = this_commit(rows), history(about)
    write_history(about, rows)
    pictures = ROOT / "docs/images" if not is_short else FOLDER / "images"
    draw_ratios(now, pictures / "performance_ratios.svg")
    draw_history(history(about), pictures / "performance_history.svg")
    fallen = falls(before, now)
    file = FOLDER / "performance.md" if is_short else PAGE
    file.write_text(page(about, groups, fallen))
    if fallen:
        print(f"\n!!! {len(fallen)} ROWS FELL BY MORE THAN 10 %:")
        for fall in fallen:
            print(f"!!! {fall}")
    rows.file.unlink(missing_ok=True)  # the next run measures anew
    return True


def main() -> None:
    word = "".join(sys.argv[1:2])
    if word and word != "--all":
        sys.exit(not measure_part(word))
    sys.exit(not measure_all(is_short=not word))


if __name__ == "__main__":
    main()
