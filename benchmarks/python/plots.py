"""Pictures of the ratios: each group's, and their means over commits."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any

from measured import Commit


def by_group(commit: Commit) -> dict[str, list[float]]:
    groups = defaultdict(list)
    for key, ratio in commit.ratios().items():
        groups[key.partition(": ")[0]].append(ratio)
    return dict(groups)


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def figure(height: float) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "composit"  # the same picture, the same text
    from matplotlib import pyplot

    made, axes = pyplot.subplots(figsize=(8, height), layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return made, axes


def save(made: Any, file: Path) -> None:
    from matplotlib import pyplot

    file.parent.mkdir(parents=True, exist_ok=True)
    made.savefig(file, metadata={"Date": None})
    pyplot.close(made)


def draw_ratios(commit: Commit, file: Path) -> None:
    """A bar for each group, from its worst row to its best, with the geometric mean, and a point
    for each row."""
    groups = by_group(commit)
    names = sorted(groups, key=lambda name: geometric_mean(groups[name]))
    made, axes = figure(1.2 + 0.3 * len(names))
    for y, name in enumerate(names):
        ratios = groups[name]
        least, most = min(ratios), max(ratios)
        axes.barh(y, most - least, left=least, height=0.6, color="#c6dbef")
        colors = ["#cb181d" if ratio < 1 else "#2171b5" for ratio in ratios]
        axes.scatter(ratios, [y] * len(ratios), s=5, color=colors, zorder=2)
        axes.plot([geometric_mean(ratios)] * 2, [y - 0.3, y + 0.3], color="black")
    axes.axvline(1, color="gray", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("the best peer's time by composit's; black: the geometric mean")
    save(made, file)


def draw_history(commits: list[Commit], file: Path) -> None:
    """A line for each group: the geometric mean of its ratios at each commit that has it."""
    lines = defaultdict(list)
    for x, commit in enumerate(commits):
        for name, ratios in by_group(commit).items():
            lines[name].append((x, geometric_mean(ratios)))
    made, axes = figure(4.5)
    for name in sorted(lines):
        axes.plot(*zip(*lines[name], strict=True), marker="o", markersize=3, label=name)
    axes.axhline(1, color="gray", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xticks(range(len(commits)), [c.commit[:7] for c in commits], rotation=45)
    axes.set_ylabel("geometric mean of ratios")
    if lines:
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    save(made, file)
