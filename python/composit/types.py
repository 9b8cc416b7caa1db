"""The types that users name in annotations, and visualize."""

from composit._core import LazyTensor, Node
from composit.visualization import visualize

__all__ = ["LazyTensor", "Node", "visualize"]
