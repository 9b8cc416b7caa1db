"""torch.testing: tensors that are close, and tensors of random numbers for tests."""

from composit.torch.testing.comparing import assert_allclose, assert_close
from composit.torch.testing.making import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
