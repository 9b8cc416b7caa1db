"""Labels of pictures: texts of users, drawn as they are."""

from __future__ import annotations

import composit._core as _core


def label_of(*lines: str) -> str:
    """The lines as a label that says to graphviz, and to what reads its SVG, nothing but text."""
    import graphviz

    plain = [_core.printable(line).replace("&", "&amp;") for line in lines]
    return graphviz.escape("\n".join(plain))
