"""Graphs of tensors drawn by graphviz: calls and modules as clusters, repetitions once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import composit._core as _core
from composit.labels import label_of
from composit.parts import Part, drawn_for, module_paths, parts_of

FOLD_BEYOND = 200  # nodes
LONGEST_LABEL = 60
CALLS = ("call", "call_with_pullback")


class Drawing:
    """A picture in the making. `depth` levels of calls are drawn as clusters of what they compute,
    deeper ones as boxes; of graphs of more than `fold` nodes, what repeats appears once. Modules
    that a traced graph comes from are clusters, too, to `modules` levels (None: all)."""

    def __init__(self, digraph: Any, depth: int, fold: int, modules: int | None) -> None:
        self.digraph, self.depth, self.fold, self.modules = digraph, depth, fold, modules
        self.edges: dict[tuple[str, str, str], bool] = {}
        self.has_calls, self.parts = False, 0

    def draw(self, tensors: list[Any]) -> None:
        """The graph that the tensors reach, and an arrow out of each of them."""
        places = self._nodes(self.digraph, tensors, "n", 0, {})
        for i, tensor in enumerate(tensors):
            self.digraph.node(f"out{i}", label="", shape="point", width="0.08", height="0.08")
            self._edge(places, tensor.node, tensor.output_index, f"out{i}")
        for (source, sink, label), is_forward in self.edges.items():
            backwards = {} if is_forward else {"constraint": "false", "style": "dashed"}
            self.digraph.edge(source, sink, label=label, **backwards)

    def _nodes(
        self, digraph: Any, outputs: list[Any], prefix: str, level: int, inputs: dict[Any, str]
    ) -> dict[Any, Any]:
        """Draws what the outputs reach; where edges from each node begin, by node (and for drawn
        calls by output)."""
        order = _core.topological_order(outputs)
        paths = module_paths(order) if level == 0 else [""] * len(order)
        is_long = len(order) > self.fold
        signatures = [_signature(node) for node in order] if is_long else order
        items = parts_of(paths, signatures, is_long)
        shown = dict(drawn_for(items))
        places: dict[Any, Any] = {}
        for i, node in enumerate(order):
            places[node] = inputs.get(node) or f"{prefix}{i}"
        closed: dict[int, int] = {}
        self._items(digraph, items, order, places, closed, prefix, level, inputs)
        boxes = {}  # of nodes in closed modules: which of them
        for i, node in enumerate(order):
            places[node] = places[order[shown[i]]]
            if shown[i] in closed:
                boxes[node] = paths[i].split(".")[: closed[shown[i]]]
        for node in order:
            for place, (source, index) in enumerate(node.operand_nodes):
                if source not in boxes or boxes[source] != boxes.get(node):
                    self._edge(places, source, index, _entry(places, node, place))
        return places

    def _items(
        self, digraph: Any, items: list[int | Part], order: list[Any], places: dict[Any, Any],
        closed: dict[int, int], prefix: str, level: int, inputs: dict[Any, str],
        modules: int = 0, names: int = 0,
    ) -> None:  # fmt: skip
        """Nodes, and parts within so many modules whose paths have so many names. In `closed`, of
        nodes in modules that are one box, how many names these have."""
        for item in items:
            if not isinstance(item, Part):
                if order[item] not in inputs:
                    self._node(digraph, order[item], places, f"{prefix}{item}", level)
                continue
            within = names + (item.name.count(".") + 1 if item.name else 0)
            if item.name and self.modules is not None and modules >= self.modules:
                box = f"{prefix}{item.runs[0][0]}"
                digraph.node(box, label=_plain(item.label), shape="box3d", style="rounded")
                self.has_calls = True
                for position in item.runs[0]:
                    places[order[position]], closed[position] = box, within
                continue
            self.parts += 1
            with digraph.subgraph(name=f"cluster_{prefix}part{self.parts}") as cluster:
                style = "rounded,dashed" if len(item.runs) > 1 else "rounded"
                cluster.attr(label=_plain(item.label), style=style, color="gray40")
                self._items(
                    cluster, item.items, order, places, closed, prefix, level, inputs,
                    modules + bool(item.name), within,
                )  # fmt: skip

    def _node(self, digraph: Any, node: Any, places: dict[Any, Any], name: str, level: int) -> None:
        body = node.attributes.get("body") if node.operation.name in CALLS else None
        self.has_calls |= body is not None
        if body is None or level >= self.depth:
            digraph.node(name, label=_label(node), shape=_shape(node), style=_style(node))
            return
        with digraph.subgraph(name=f"cluster_{name}") as cluster:
            cluster.attr(label=_plain(node.name), style="rounded,filled", fillcolor="gray95")
            entries = []
            for i, parameter in enumerate(body.parameters):
                entry = f"{name}_in{i}"
                cluster.node(entry, label=_plain(parameter.name), shape="cds")
                entries.append(entry)
            inner = {p.node: entry for p, entry in zip(body.parameters, entries)}
            inside = self._nodes(cluster, list(body.results), f"{name}_", level + 1, inner)
            ends = [_exit(inside, r.node, r.output_index) for r in body.results]
        places[node] = (entries, ends)

    def _edge(
        self,
        places: dict[Any, Any],
        source: Any,
        index: int,
        sink: str,
        position: int | None = None,
    ) -> None:
        begin = _exit(places, source, index)
        label = f"{source.dtypes[index]}{list(source.shapes[index])}"
        if len(source.shapes) > 1:
            label = f"{index}: {label}"
        if begin == sink or (sink.startswith("n") and _number(begin) > _number(sink)):
            self.edges.setdefault((begin, sink, label), False)
        else:
            self.edges[begin, sink, label] = True


def _number(name: str) -> int:
    """The position in a name such as n12 or n12_3_in0, at the level of the outermost graph."""
    digits = name.lstrip("n").partition("_")[0]
    return int(digits) if digits.isdigit() else -1


def _entry(places: dict[Any, Any], node: Any, operand: int) -> str:
    place = places[node]
    return place if isinstance(place, str) else place[0][operand]


def _exit(places: dict[Any, Any], node: Any, output: int) -> str:
    place = places[node]
    return place if isinstance(place, str) else place[1][output]


def _signature(node: Any) -> tuple:
    name = "" if node.is_constant else node.label
    return node.operation.name, name, tuple(node.shapes), tuple(map(str, node.dtypes))


def _plain(text: str) -> str:
    """Short, and without what graphviz reads as its own."""
    text = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return label_of(text)


def _label(node: Any) -> str:
    return _plain(node.name) or node.operation.name


def _shape(node: Any) -> str:
    if node.is_constant or node.is_input:
        return "ellipse"
    return "box3d" if node.operation.name in CALLS else "box"


def _style(node: Any) -> str:
    return "" if node.is_constant or node.is_input else "rounded"


def drawn(
    tensors: list[Any],
    make_digraph: Callable[[], Any],
    depth: int = 1,
    fold: int = FOLD_BEYOND,
    modules: int | None = None,
) -> tuple[Any, bool]:
    """The picture, and whether calls are in it."""
    digraph = make_digraph()
    digraph.attr("node", fontsize="11", height="0.3", margin="0.08,0.04")
    digraph.attr("edge", fontsize="9", arrowsize="0.6")
    drawing = Drawing(digraph, depth, fold, modules)
    drawing.draw(tensors)
    return digraph, drawing.has_calls
