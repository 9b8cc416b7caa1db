"""torch.compiler: what belongs to torch.compile."""

from composit.torch.compiling import Unsupported, compile, disable, is_compiling, reset

__all__ = ["Unsupported", "compile", "disable", "is_compiling", "reset"]
