// Overlapping frames, transformed each by itself.
#include "composit/aten/signals.h"

#include "composit/aten/rank.h"
#include "composit/aten/series.h"
#include "composit/base/error.h"
#include "composit/numpy/fft.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>

namespace composit::aten {
namespace {

struct Frames {
    int64_t size, hop;

    // Where the elements of so many frames are: (frames, size).
    [[nodiscard]] Tensor places(int64_t count) const {
        return numpy::expand_dims(numpy::arange(count), 1) * hop + numpy::arange(size);
    }
};

Frames frames_of(const StftOptions& o) {
    const int64_t given = o.hop_length.value_or(0), hop = given != 0 ? given : o.n_fft / 4;
    user_check<RuntimeError>(hop > 0, "stft: expected hop_length > 0, but got hop_length=", hop);
    return {o.n_fft, hop};
}

// The window in the middle of a frame.
Tensor padded_window(const StftOptions& o, DType dtype) {
    const int64_t given = o.win_length.value_or(0), length = given != 0 ? given : o.n_fft;
    const Tensor window = o.window ? o.window : numpy::ones({length}, dtype);
    const int64_t left = (o.n_fft - length) / 2;
    return numpy::pad(window, {{left, o.n_fft - length - left}});
}

numpy::fft::Norm norm_of(const StftOptions& o) {
    return numpy::fft::norm_named(o.is_normalized ? "ortho" : "backward");
}

}  // namespace

Tensor stft(const Tensor& given, const StftOptions& o) {
    check_rank("stft", given, 1);
    const bool is_alone = given.rank() != 2;
    Tensor x = is_alone ? numpy::expand_dims(given, 0) : given;
    const Frames frames = frames_of(o);
    if (o.is_centred) x = numpy::pad(x, {{0, 0}, {o.n_fft / 2, o.n_fft / 2}}, o.pad_mode);
    const int64_t length = x.shape().back();
    user_check(0 < o.n_fft && o.n_fft <= length, "stft: expected 0 < n_fft < ", length,
               ", but got n_fft=", o.n_fft);
    const DType real = ir::real_part_of(x.dtype());
    const Tensor places = frames.places(1 + (length - o.n_fft) / frames.hop);
    const Tensor parts = numpy::get_item(x, {numpy::Slice{}, places}) * padded_window(o, real);
    const bool is_half = o.is_onesided.value_or(!ir::is_complex(x.dtype()));
    const Tensor found = is_half ? numpy::fft::rfft(parts, {}, -1, norm_of(o))
                                 : numpy::fft::fft(parts, {}, -1, norm_of(o));
    const DType to = real == DType::float32 ? DType::complex64 : DType::complex128;
    const Tensor made = numpy::swapaxes(ops::astype(found, to), 1, 2);
    return is_alone ? numpy::get_item(made, {int64_t{0}}) : made;
}

Tensor istft(const Tensor& given, const StftOptions& o, std::optional<int64_t> length) {
    const bool is_alone = given.rank() != 3;
    const Tensor x = is_alone ? numpy::expand_dims(given, 0) : given;
    const DType to = x.dtype() == DType::complex64 ? DType::float32 : DType::float64;
    const Frames frames = frames_of(o);
    const Tensor weights = padded_window(o, to);
    const Tensor signals = numpy::fft::irfft(numpy::swapaxes(x, 1, 2), o.n_fft, -1, norm_of(o));
    const Tensor parts = ops::astype(signals, to) * weights;
    const int64_t batch = x.shape()[0], count = x.shape().back();
    const int64_t size = o.n_fft + frames.hop * (count - 1);
    const Tensor places = numpy::reshape(frames.places(count), {-1});
    const Tensor total = numpy::add_at(numpy::zeros({batch, size}, to), {numpy::Slice{}, places},
                                       numpy::reshape(parts, {batch, -1}));
    const Tensor squares = numpy::tile(numpy::apply("square", {weights}), {count});
    const Tensor share = numpy::add_at(numpy::zeros({size}, to), {places}, squares);
    const int64_t first = o.is_centred ? o.n_fft / 2 : 0;
    const int64_t last = length ? std::min(first + *length, size) : size - first;
    const Tensor found = numpy::get_item(total, {numpy::Slice{}, numpy::Slice{first, last}}) /
                         numpy::get_item(share, {numpy::Slice{first, last}});
    return is_alone ? numpy::get_item(found, {int64_t{0}}) : found;
}

}  // namespace composit::aten
