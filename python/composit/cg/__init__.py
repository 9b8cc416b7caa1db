"""Modules whose calls are graphs that can be held, differentiated and drawn.

class SimpleModel(cg.Module):
    def __init__(self, w0=1):
        super().__init__(inputs=(cg.Variable("x"),), params=(cg.Parameter("w", w0),))

    def call(self, x):
        return op.mult(op.add(x, self.param("w")), op.square(x))

result = SimpleModel()(3)
result.value  # 36
"""

from composit.cg import models, op, utils, visual
from composit.cg.function import Function, Operator
from composit.cg.graph import ModuleGraph
from composit.cg.logspace import logspace
from composit.cg.module import Module
from composit.cg.node import (
    IDObject,
    InputNode,
    Node,
    OperatorNode,
    get_all_nodes,
    get_input_nodes,
)  # fmt: skip
from composit.cg.session import CallSessionManager
from composit.cg.template import Constant, Input, Parameter, TemplateObject, Variable
from composit.cg.training import Training
from composit.cg.visual import plot_cg

__all__ = [
    "CallSessionManager", "Constant", "Function", "IDObject", "Input", "InputNode", "Module",
    "ModuleGraph", "Node", "Operator", "OperatorNode", "Parameter", "TemplateObject", "Training",
    "Variable", "get_all_nodes", "get_input_nodes", "logspace", "models", "op", "plot_cg", "utils",
    "visual",
]  # fmt: skip
