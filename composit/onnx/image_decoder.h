// ImageDecoder: files of images, read by a function of the user's. Formats of images are libraries'
// own subject; composit's Python gives Pillow.
//
//   onnx::set_image_decoder(my_decoder);
#pragma once

#include "composit/ir/array.h"

#include <functional>
#include <string>

namespace composit::onnx {

// Of a file's bytes (uint8, one dimension) and "RGB", "BGR" or "Grayscale": uint8 of (height,
// width, channels), 1 channel of the last and 3 of the others. It throws a ValueError for bytes
// that are no image.
using ImageDecoder = std::function<ir::Array(const ir::Array& bytes, const std::string& format)>;

// For models that are called from now on, in all threads. An empty one takes it away.
void set_image_decoder(ImageDecoder decoder);

}  // namespace composit::onnx
