"""Draws what a small computation was made of: python -m composit.examples.graph [FILE.png]"""

from __future__ import annotations

import sys

import composit.tensorgrad as tensorgrad


def main(words: list[str] | None = None) -> int:
    """The exit status."""
    words = sys.argv[1:] if words is None else words
    file = words[0] if words else "graph.png"
    x = tensorgrad.tensor([[1.0, 2.0], [3.0, 4.0]], name="x")
    w = tensorgrad.tensor([[0.5], [-0.5]], name="w")
    b = tensorgrad.tensor([0.1], name="b")
    y = (x.matmul(w) + b).sigmoid().mean()
    y.name = "y"
    y.backward(destroy_graph=False)
    try:
        y.render().save(file)
    except (ImportError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"graph: wrote {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
