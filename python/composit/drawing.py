"""Graphs of tensors drawn by graphviz: what composit/ir/picture.h says, as statements of its
package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.labels import label_of

FOLD_BEYOND = 200  # nodes


def drawn(
    tensors: list[Any],
    make_digraph: Callable[[], Any],
    depth: int = 1,
    fold: int = FOLD_BEYOND,
    modules: int | None = None,
) -> tuple[Any, bool]:
    """The picture, and whether calls are in it. `depth` levels of calls are drawn as clusters of
    what they compute, deeper ones as boxes; of graphs of more than `fold` nodes, what repeats
    appears once. Modules that a traced graph comes from are clusters, too, to `modules` levels
    (None: all)."""
    items, edges, has_calls = _core.picture(tensors, depth, fold, modules)
    digraph = make_digraph()
    digraph.attr("node", fontsize="11", height="0.3", margin="0.08,0.04")
    digraph.attr("edge", fontsize="9", arrowsize="0.6")
    draw(digraph, items)
    for source, sink, label, attributes in edges:
        digraph.edge(source, sink, label=label, **attributes)
    return digraph, has_calls


def draw(digraph: Any, items: list[Any]) -> None:
    """Boxes, and clusters with what is in them, as statements of graphviz's package."""
    for name, label, attributes, inner in items:
        if inner is None:
            digraph.node(name, label=label_of(label), **attributes)
            continue
        with digraph.subgraph(name=name) as cluster:
            cluster.attr(label=label_of(label), **attributes)
            draw(cluster, inner)
