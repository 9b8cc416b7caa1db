"""`run.py [WORD]` runs all groups, or what has WORD in its name; a whole run writes the page.

Raw rows go to build/bench/GROUP.json, those of a part to build/bench/part/GROUP.json.
"""

import json
import sys
from pathlib import Path

from group import run
from machine import machine
from measure import FOLDER
from page import PAGE, page, printed


def main() -> None:
    word = "".join(sys.argv[1:2])
    folder = FOLDER / "part" if word else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    about, groups = machine(), []
    for program in sorted(Path(__file__).parent.glob("bench_*.py")):
        group: dict = {"machine": about, "limits": [], "rows": [], "failures": []}
        for found in run(program, word):
            print(printed(found), end="", flush=True)
            if "failed" in found:
                group["failures"].append(found["failed"])
            elif "limits" in found:
                group["limits"].append(found.pop("limits"))
                group |= found
            else:
                group["rows"].append(found)
        if "title" in group:
            groups.append(group)
            file = folder / f"{program.stem.removeprefix('bench_')}.json"
            file.write_text(json.dumps(group, indent=1) + "\n")
    if not word:
        PAGE.write_text(page(groups))
    sys.exit(any(group["failures"] for group in groups))


if __name__ == "__main__":
    main()
