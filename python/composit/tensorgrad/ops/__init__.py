"""Operations: what they are made of (stubs), and who has which (dispatch)."""

from composit.tensorgrad.ops.dispatch import COMPUTED, OpDispatch
from composit.tensorgrad.ops.stubs import BaseOp, BinaryOp, ReduceOp, UnaryOp

__all__ = ["COMPUTED", "BaseOp", "BinaryOp", "OpDispatch", "ReduceOp", "UnaryOp"]
