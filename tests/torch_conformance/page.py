"""docs/torch-conformance.md: a row for each of PyTorch's public names."""

from __future__ import annotations

from collections import defaultdict

import torch as peer

from torch_conformance import keywords, names
from torch_conformance.compare import Example, Outcome, examples, tried

_HEAD = """# composit.torch beside PyTorch

Made by `tools/torch_names.py --write` against PyTorch {version}; a test keeps it true. A row for
each public name that is a function or a class with a text: whether `composit.torch` has it, takes
the arguments PyTorch names, and gives the same values, and the same gradients, on the example calls
of `tests/torch_conformance/calls.py` (for modules with PyTorch's weights; optimisers: parameters
after five steps). "–": PyTorch gives no gradient there, or there is no example.

| namespace | names | there | compared | values equal | gradients compared | gradients equal |
|---|--:|--:|--:|--:|--:|--:|
"""


def outcomes() -> dict[str, list[tuple[Example, Outcome]]]:
    """What comes of all examples that PyTorch does not refuse, by path."""
    found = defaultdict(list)
    for example in examples():
        if names.has(example.space, example.name):
            outcome = tried(example)
            if not outcome.refusal:
                found[example.path].append((example, outcome))
    return found


def _yes(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "no"


def page(found: dict[str, list[tuple[Example, Outcome]]]) -> str:
    """The text of the page."""
    head, sections = [_HEAD.format(version=peer.__version__.split("+")[0])], []
    for space in names.SPACES:
        title = f"torch.{space}" if space else "torch"
        rows, missing, counts = [], [], [0] * 6
        for name in names.public(space):
            counts[0] += 1
            if not names.has(space, name):
                missing.append(name)
                continue
            tries = found.get(f"{space}.{name}" if space else name, [])
            values = all(not o.values for _, o in tries) if tries else None
            with_gradient = [o for _, o in tries if o.has_gradient]
            gradients = (
                all(not o.values and not o.gradients for o in with_gradient)
                if with_gradient
                else None
            )
            for place, value in enumerate((True, values is not None, values, gradients is not None,
                                           gradients)):  # fmt: skip
                counts[place + 1] += bool(value)
            same = names.takes_the_same(space, name)
            rows.append(f"| `{name}` | {_yes(same)} | {_yes(values)} | {_yes(gradients)} |")
        head.append(f"| `{title}` | {' | '.join(map(str, counts))} |\n")
        sections.append(
            f"\n## {title}\n\n| name | arguments | values | gradients |\n|---|---|---|---|"
        )
        sections.extend(rows)
        if missing:
            listed = ", ".join(f"`{name}`" for name in missing)
            sections.append(f"\nNot built yet: {listed}.")
    sections.append(
        "\n## Arguments that cannot be named\n\nOf PyTorch's schemas; PyTorch's own functions of "
        "Python refuse these names, too. All others can be named; a test calls every example with "
        "its arguments named, and with all at their places.\n"
    )
    unnamed = {path: [name] for path, (name, _) in keywords.REFUSED_BY_PYTORCH.items()}
    unnamed.update(keywords.missing())
    sections += [f"- `{path}`: {', '.join(found)}" for path, found in unnamed.items()]
    return "".join(head) + "\n".join(sections) + "\n"
