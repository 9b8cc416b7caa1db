"""Files of images, read by Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import not_implemented, value_error


def decoded(data: Any, pixel_format: str) -> Any:
    """The bytes of a file as uint8 of (height, width, channels), for the operator ImageDecoder:
    3 channels of "RGB" and "BGR", 1 of "Grayscale".

    NotImplementedError without Pillow, ValueError for bytes that it does not read."""
    try:
        from PIL import Image
    except ImportError:
        raise not_implemented("ImageDecoder: images are read by Pillow, which is not installed. "
                              "`pip install pillow` is required.") from None  # fmt: skip
    try:
        image = Image.open(io.BytesIO(np.asarray(data).tobytes()))
        pixels = np.asarray(image.convert("L" if pixel_format == "Grayscale" else "RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise value_error(f"ImageDecoder: Pillow does not read the {len(data)} bytes: {error}. "
                          "A file of an image is required.") from None  # fmt: skip
    if pixel_format == "Grayscale":
        return pixels[..., None]
    return np.ascontiguousarray(pixels[..., ::-1] if pixel_format == "BGR" else pixels)


_core.onnx.set_image_decoder(decoded)
