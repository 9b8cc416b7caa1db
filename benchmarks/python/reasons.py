"""Why rows are below their must: what the page says under a group's table.

`reasons.py` writes the reasons into docs/performance.md anew, without measuring.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/performance.md"

# Of "title of the group: case", the first that matches.
REASONS: list[tuple[str, str]] = [
    (
        r"BERT-base: ",
        "At 86 to 91 % of what this CPU can multiply and add, as is OpenVINO; 1.1 of its speed "
        "would be beyond the limit with one thread.",
    ),
    (
        r"Elementwise functions and sums: exp",
        "All bytes come from and go to memory at the bandwidth of copying.",
    ),
    (
        r"(Elementwise functions and sums|Kernels in plain Python): relu3",
        "JAX and hand compute x**3 with two roundings, composit with one, as CPython does in "
        "effect, and of infinite squares the sign, which took four instructions more; two since "
        "this run, 160 us for 246 (docs/knossos.md).",
    ),
    (
        r"NumPy's functions: .*1e2$",
        "A call is noted for the graph (its arguments as words, a record, a cell, a Python object) "
        "and evaluated into an array: 1.7 us, whatever it computes, where NumPy takes 0.3 to 1. "
        "Masks, positions and distinct values decide shapes, and are made by nodes: 4 to 8 us.",
    ),
    (
        r"NumPy's functions: .*1e3$",
        "The 1.7 us of a call, as at 100 elements; and kernels for any shape, in passes of 1,024 "
        "elements, where NumPy has a loop for the case.",
    ),
    (
        r"NumPy's functions: (concatenate|clip|tile|pad|block|roll|fftshift|diff|repeat|round|"
        r"flipped copy|transposed copy|column_stack|stack|where)\b.*1e6$",
        "At the bandwidth of the caches: results of 4 to 24 MB go to memory that is not the "
        "operand's, by loops (memcpy takes ten times as long where the destination lies a few "
        "bytes behind the source within its page). clip of int64 is two comparisons and two "
        "choices, NumPy's two instructions.",
    ),
    (
        r"NumPy's functions: (norm|dot|matmul|matrix_power|tensordot|inner|kron)\b.*1e6$",
        "The order of sums is part of the meaning: a chain of fused multiply-adds along the depth, "
        "so vectors go across rows and blocks, which have to be transposed first.",
    ),
    (
        r"NumPy's functions: .*fft.*1e6$",
        "A transform is a graph of composit's operations, factor by factor, with the same bits "
        "compiled and exported; pocketfft goes through an array in fewer passes.",
    ),
    (
        r"NumPy's functions: .*1e6$",
        "The interpreter's kernels are for any shape, and go through memory once more than "
        "NumPy's: a result that is read again, indices that are checked before they are used, "
        "counts of bools as integers.",
    ),
    (
        r"Kernels in plain Python: gelu, 1M float32, beside vmap",
        "Twenty times as fast as torch.vmap would be 130 us, beyond the CPU's limit of 340.",
    ),
    (
        r"Kernels in plain Python: .*lines of C\+\+",
        "What is logged and taken back costs a line each for every assignment in a loop.",
    ),
    (
        r"Layers: softmax",
        "Three passes over rows of 2 KB, at 70 % of the limit.",
    ),
    (
        r"Layers: layer norm",
        "Sums along columns, for the weight's gradient, go through the rows once more.",
    ),
    (
        r"Making nodes: ",
        "A Python object, a cell, and a node with its type, place and line take 3.9 us together.",
    ),
    (
        r"OpenCL \(PoCL\)",
        "PoCL runs work groups one after the other on the same cores; the C++ back end goes "
        "through rows in the order of memory.",
    ),
    (
        r"Plain C: ",
        "A loop that only adds the weights up takes 3.5 us: nothing can be twice as fast as 5.6.",
    ),
    (
        r"Weights in few bits: .*8 bits",
        "Unpacking and multiplying go at 55 % of the bandwidth.",
    ),
    (
        r"Weights in few bits: .*4 bits",
        "Unpacking costs three instructions for a vector of sixteen weights, of the two that a "
        "cycle has for products; sums by group before the scale would save one, and change bits.",
    ),
    (
        r"(ResNet-50|The model zoo: MobileNetV2)",
        "OpenVINO and oneDNN carry blocked layouts from one convolution to the next and fuse "
        "depthwise convolutions with their neighbours; composit packs for each.",
    ),
    (
        r"Small arrays: ",
        "Making and evaluating takes 7 to 8 us: a node, the plan's signature and its place among "
        "plans, the run, an array.",
    ),
    (
        r"composit\.torch: MNIST|Training with Adam: ",
        "Products are at 70 to 83 % of the limit, with attention and norms of short rows between; "
        "the ConvNet, whose must is 2, is at 1.97.",
    ),
    (
        r"composit\.torch: ",
        "The gradient of a convolution is two more convolutions, at the same share of the limit as "
        "PyTorch's.",
    ),
    (
        r"The model zoo: (GPT-2|ViT)",
        "At 78 to 84 % of the limit, GPT-2 beyond it with two threads; the peers are as near.",
    ),
    (
        r"The model zoo: U-Net",
        "torch multiplies its convolutions by oneDNN, with blocked layouts.",
    ),
    (
        r"Kernels (beside|of the audit beside) C\+\+ written by hand: ",
        "See docs/knossos.md, which says for each row what the hand does otherwise.",
    ),
    (
        r"Kernels in plain Python: hand tracking",
        "Products of 3 x 3 and 4 x 4, whose bounds are checked before each.",
    ),
]


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
