"""Rows of the benchmarks as text: as they are measured, and as docs/performance.md."""

from __future__ import annotations

from textwrap import fill

from measured import Fall
from reasons import with_reasons

INTRODUCTION = """# Performance

Written by `make bench-all`; not by hand. float32. A **ratio** is the best peer's time divided by
composit's, so above 1 composit is faster; "must" is what composit promises, "aim" what it wants;
**rows below their must are bold**. All sides do the same work in turns, in one process that may use
as many cores as threads, after their results were compared; ratios and times are medians over the
rounds. composit is compiled (`composit.compile`), JAX is `jax.jit`, PyTorch is eager. Rows with a
unit instead of x are no such ratios; they are better if smaller, but shares if larger.

The **limit** of a row is the larger of two times: its floating-point operations by the peak of
fused multiply-adds (of one core, times the threads), and the bytes that it must read and write by
the bandwidth of copying. Both are measured in the same run; arrays that fit in caches may pass it.
Where the load is near the number of cores, others used them: rows of one thread still compare well,
rows of two threads say little.

![ratios of each group](images/performance_ratios.svg)
![geometric means over commits](images/performance_history.svg)
"""


def is_below(row: dict) -> bool:
    """Not what it must be; what is not built is not."""
    if row["must"] is None:
        return False
    if row["value"] is None:
        return True
    return row["value"] > row["must"] if row["less_is_better"] else row["value"] < row["must"]


def value_of(row: dict) -> str:
    value, unit = row["value"], row["unit"]
    if value is None:
        return "-" if row["must"] is None else "not built"
    return f"{value:.2f}" if unit in ("share", "slope") else f"{value:.2f} {unit}"


def target(number: float | None) -> str:
    return "" if number is None else f"{number:.3g}"


def duration(us: float | None) -> str:
    if us is None:
        return ""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3g} {unit}" if us < 100 * size else f"{us / size:.0f} {unit}"
    return f"{us:.3g} us" if us < 100 else f"{us:.0f} us"


def beside(row: dict) -> str:
    """The peers' times, the best first; or what else was measured."""
    if row["beside"]:
        return ", ".join(f"{name} {value:.2f}" for name, value in row["beside"].items())
    ordered = sorted(row["peers_us"].items(), key=lambda item: row["ratios"][item[0]])
    return ", ".join(f"{name} {duration(us)}" for name, us in ordered)


def cells(row: dict) -> list[str]:
    percent = row["percent"]
    return [
        row["case"], str(row["threads"]), duration(row["composit_us"]), beside(row), value_of(row),
        target(row["must"]), target(row["aim"]), "" if percent is None else f"{percent:.0f} %",
    ]  # fmt: skip


def printed(found: dict) -> str:
    """Of what a child of group.py says."""
    if "failed" in found:
        return f"FAILED: {found['failed']}\n"
    if "limits" in found:
        limits = found["limits"]
        return (
            f"--- {found['title']}: {limits['threads']} thread(s), {limits['flops'] / 1e9:.0f} "
            f"GFLOP/s, {limits['bandwidth'] / 1e9:.1f} GB/s\n"
        )
    case, threads, ours, others, value, must, aim, percent = cells(found)
    mark = "*" if is_below(found) else " "
    return (
        f"{case:38} {threads} {ours:>8} {mark}{value:>10} must {must:4} aim {aim:4} "
        f"{percent:>6}  load {found['load']:.1f}  {others}\n"
    )


def table_line(row: dict) -> str:
    found = cells(row)
    if is_below(row):
        found[0], found[4] = f"**{found[0]}**", f"**{found[4]}**"
    return f"| {' | '.join(found)} |"


def page(machine: dict[str, str], groups: dict[str, dict], fallen: list[Fall]) -> str:
    """The text of docs/performance.md. A group holds title, notes, limits and rows."""
    about = "; ".join(f"{key} {value}" for key, value in machine.items())
    parts = [INTRODUCTION, f"\n{fill(f'Measured on {about}.', 100)}\n"]
    if fallen:
        parts.append(
            "\n**Fallen by more than 10 % behind the best of ten commits on this machine:**\n\n"
        )
        parts += [f"- {fall}\n" for fall in fallen]
    for _, group in sorted(groups.items()):
        limits = "; ".join(
            f"{limit['threads']} thread{'s' * (limit['threads'] > 1)}: "
            f"{limit['flops'] / 1e9:.0f} GFLOP/s, {limit['bandwidth'] / 1e9:.1f} GB/s"
            for limit in group["limits"]
        )
        loads = [row["load"] for row in group["rows"]] or [0.0]
        notes = f"{group['notes']} Limits with {limits}. Load {min(loads):.1f} to {max(loads):.1f}."
        lines = [f"\n## {group['title']}\n", f"{fill(notes, 100)}\n",
                 "| case | threads | composit | peers | ratio | must | aim | of limit |",
                 "|---|---:|---:|---|---:|---:|---:|---:|"]  # fmt: skip
        lines += [table_line(row) for row in group["rows"]]
        parts.append("\n".join(lines) + "\n")
    return with_reasons("".join(parts))
