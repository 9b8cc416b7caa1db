"""An optimiser's step as the end of a trace (composit/torch/steps.py): one program computes what
lives, the new parameters and the new state (bindings/optimizer_steps.cpp)."""

from __future__ import annotations

import composit._core as _core
from composit.torch import recording as recording

# Does the step of an optimiser, where one of that structure was done before; else False.
stepped = _core.optimizers.step_by_structure
