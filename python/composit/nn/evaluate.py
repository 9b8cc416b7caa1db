"""composit.nn.evaluate: composit.evaluate, and the Cache of its values."""

from composit.evaluation import Cache, evaluate

__all__ = ["Cache", "evaluate"]
