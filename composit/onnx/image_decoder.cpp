// The operator ImageDecoder.
#include "composit/onnx/image_decoder.h"

#include "composit/ir/node.h"
#include "composit/onnx/operators.h"

#include <mutex>
#include <utility>

namespace composit::onnx {
namespace image_decoder {
namespace {

struct Registered {
    std::mutex mutex;
    ImageDecoder decoder;

    // Never destroyed: a decoder may be a Python function, and Python ends before.
    static Registered& instance() {
        static auto* const one = new Registered;
        return *one;
    }
    ImageDecoder get() {
        const std::lock_guard lock(mutex);
        return decoder;
    }
};

Values decode(Call& call) {
    const std::string format = call.text("pixel_format", "RGB");
    call.check(format == "RGB" || format == "BGR" || format == "Grayscale", "pixel_format is '",
               format, "'. RGB, BGR or Grayscale is required.");
    const Tensor& x = call.tensor(0);
    call.check<TypeError>(x.dtype() == ir::DType::uint8 && x.rank() == 1, "the input is ", x.type(),
                          ". The bytes of a file, uint8 of one dimension, are required.");
    const Array bytes = call.known(0);
    const ImageDecoder decoder = Registered::instance().get();
    call.check<NotSupported>(static_cast<bool>(decoder),
                             "there is no decoder of image files. onnx::set_image_decoder with one "
                             "is required.");
    const Array image = decoder(bytes, format);
    const ir::Shape& shape = image.shape();
    const int64_t channels = format == "Grayscale" ? 1 : 3;
    call.check<TypeError>(
        image.dtype() == ir::DType::uint8 && shape.size() == 3 && shape[2] == channels,
        "the decoder gave ", image.dtype(), " of shape ", shape, ". uint8 of (height, width, ",
        channels, ") is required.");
    return {ir::constant(image)};
}

}  // namespace
}  // namespace image_decoder

void set_image_decoder(ImageDecoder decoder) {
    auto& registered = image_decoder::Registered::instance();
    const std::lock_guard lock(registered.mutex);
    registered.decoder = std::move(decoder);
}

void add_image_decoder(Registry& registry) { registry.add("ImageDecoder", image_decoder::decode); }

}  // namespace composit::onnx
