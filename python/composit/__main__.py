"""`python -m composit info|export|check model.onnx`: ONNX models from the command line."""

from __future__ import annotations

import sys

from composit.onnx.commands import main

if __name__ == "__main__":
    sys.exit(main())
