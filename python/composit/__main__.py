"""`python -m composit info|export|check model.onnx`: models from the command line; of StableHLO,
info and export."""

from __future__ import annotations

import sys

from composit.onnx.commands import main

if __name__ == "__main__":
    sys.exit(main())
