"""`gpu_page.py [FILE.json]` writes docs/performance-gpu.md from what gpu.py measured; without a
file the page of rows that nobody has measured yet."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from gpu import ROOT
from gpu_rows import all_rows

PAGE = ROOT / "docs/performance-gpu.md"

BEGINNING = """# Performance on GPUs

`make gpu` builds composit on a machine with an NVIDIA GPU and measures these rows, composit beside
PyTorch, CuPy and JAX on the same device in the same run: all in float32, without tf32, and after
each result was compared with the CPU's to the bit. "Ratio" is the best peer's time over composit's:
above 1, composit is faster. {said}

"""

NONE = (
    "**Nothing was measured yet: no GPU was at hand.** CUDA has been printed, compiled and checked "
    "only ([devices.md](devices.md)); no claim about its speed is made."
)


def milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.3f}"


def said(about: dict[str, Any]) -> str:
    device, versions = about["device"], []
    for name in ("torch", "cupy", "jax"):
        version = about.get(name, "")
        if version and not version.startswith("not here"):
            versions.append(f"{name} {version}")
    return (
        f"Measured on {about['date']} with commit {about['commit'][:12] or 'unknown'} on "
        f"{device['description']}; beside it {', '.join(versions) or 'no other library'}."
    )


def line(name: str, must: float | None, aim: float | None, found: dict[str, Any] | None) -> str:
    limits = [f"{must:g}" if must else "", f"{aim:g}" if aim else ""]
    if found is None:
        cells = ["not measured", "", "", "", *limits]
    elif "failed" in found:
        cells = [f"failed: {found['failed'].strip().splitlines()[-1][:60]}", "", "", "", *limits]
    else:
        ratio = found.get("ratio")
        shown = "" if ratio is None else f"{ratio:.2f}"
        if ratio is not None and must and ratio < must:
            shown = f"**{shown}**"
        peers = ", ".join(
            f"{peer} {milliseconds(p['seconds'])}" + ("" if p["agrees"] else " (differs)")
            for peer, p in found["peers"].items()
            if "seconds" in p
        )
        bits = "equal" if found["differing"] == 0 else f"**{found['differing']} differ**"
        cells = [milliseconds(found["seconds"]), peers, bits, shown, *limits]
    return f"| {name} | " + " | ".join(cells) + " |\n"


def page(measured: dict[str, Any] | None) -> str:
    rows = {row["name"]: row for row in measured["rows"]} if measured else {}
    text = BEGINNING.format(said=said(measured["about"]) if measured else NONE)
    text += "| work | composit, ms | peers, ms | bits | ratio | must | aim |\n"
    text += "|---|--:|---|---|--:|--:|--:|\n"
    for row in all_rows():
        text += line(row.name, row.must, row.aim, rows.get(row.name))
    return text + (
        "\nRatios below what they must be are bold. Time on tensor cores (tf32, half precision) is "
        "not among the rows:\ncomposit's products have the CPU's bits and do not use them.\n"
    )


def main() -> None:
    measured = json.loads(Path(sys.argv[1]).read_text()) if sys.argv[1:] else None
    unfinished = PAGE.with_suffix(".new")
    unfinished.write_text(page(measured))
    unfinished.replace(PAGE)


if __name__ == "__main__":
    main()
