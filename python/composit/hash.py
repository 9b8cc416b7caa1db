"""deterministic_hash: a number of a value that is the same in every process."""

from __future__ import annotations

import pickle
import zlib
from typing import Any

from composit._core import LazyTensor, Node
from composit.multidigraph import MultiDiGraph


def deterministic_hash(value: Any) -> int:
    """Adler-32 of the value's pickle: equal values of one make have equal numbers, also in other
    processes and on other days, where Python's own hash of texts is salted. Nodes, tensors and
    graphs count by their structure (operations, attributes, types, sharing), not by their values.

    It tells apart by chance, in 32 bits, and is no protection against a stranger's values."""
    return zlib.adler32(pickle.dumps(_plain(value), protocol=4))


def _plain(value: Any) -> Any:
    """The value, with numbers in place of what cannot be pickled."""
    if isinstance(value, LazyTensor):
        return ("tensor", value.node.structural_hash, value.output_index)
    if isinstance(value, Node):
        return ("node", value.structural_hash)
    if isinstance(value, MultiDiGraph):
        edges = value.edges(keys=True)
        nodes = [_plain(node) for node in value]
        return ("graph", nodes, [tuple(_plain(end) for end in edge) for edge in edges])
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(one) for one in value) if type(value) in (list, tuple) else value
    if type(value) is dict:
        return {_plain(key): _plain(one) for key, one in value.items()}
    return value
